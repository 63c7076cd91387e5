#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "env/vector_environment.h"
#include "experiments/task/world.h"
#include "python/bindings/arrays.h"

namespace saccade::python {

inline std::size_t size_t_of(int n) { return static_cast<std::size_t>(n); }

inline std::uint8_t* bytes_of(Array<bool>& flags) {
  return reinterpret_cast<std::uint8_t*>(flags.data());
}

/// The sizes of observations and actions, which a change of settings leaves as they are.
struct ObservationSizes {
  ObservationSizes(const VectorEnvironment& environments, const World& world);

  int count, glimpse, location, answer, classes;  // N, D, L, A, C
  int scales, channels, patch;
};

/// What a step or a reset shows, as NumPy arrays of N rows. The observation is glimpses (N, scales,
/// channels, P, P), locations (N, L) and steps (N); or, if flat, D + L + 1 numbers in a row per
/// environment: glimpse, location, steps / T. The facts are labels (N, A), boxes (N, digits, 4) and
/// on_target (N); without an axis for labels or boxes if there is only one.
class ObservationRows {
 public:
  /// Memory for `n` rows.
  ObservationRows(std::size_t n, const ObservationSizes& sizes, const EpisodeRules& rules,
                  bool flat);

  /// Where to write, as long as this object lives.
  VectorObservation memory();
  /// Returns (observation, facts), once everything is written.
  nanobind::tuple arrays();

 private:
  int flat_size() const { return glimpse_size_ + location_size_ + 1; }

  int rows_, glimpse_size_, location_size_, num_glimpses_;
  bool flat_;
  Array<float> glimpses_, locations_;
  Array<std::int64_t> steps_, labels_, boxes_;
  Array<bool> on_target_;
};

}  // namespace saccade::python
