#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <span>

#include "experiments/evaluation/stepped_play.h"
#include "python/bindings/canvases.h"

namespace saccade::python {

using GivenRows =
    nanobind::ndarray<const float, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

/// N episodes of an agent that Python steps through: on canvases, or with glimpses (N, D) that it
/// is handed look by look.
class AgentSteps {
 public:
  /// Keeps a reference to `model`.
  AgentSteps(const Model& model, Canvases canvases);
  AgentSteps(const Model& model, int episodes, int glimpse_size);

  const Canvases& canvases() const { return canvases_; }
  const Tensor<2>& glimpses() const { return glimpses_; }

  /// The environments look at canvases() or glimpses().
  void start(std::span<const float> weights, const EnvironmentFactory& environments,
             SteppedPlayRequest request, Workers& workers);
  bool plays(std::span<const float> weights) const { return play_->plays(weights); }
  void rewind(int looks);
  /// Takes the next look, at `locations` (N, L) if given.
  void take(const std::optional<GivenRows>& locations, const std::optional<GivenRows>& glimpses);
  /// What the last look was: locations, probabilities, next_locations and glimpses, where there are
  /// some.
  nanobind::dict look() const;

 private:
  const Model& model_;
  const Canvases canvases_;
  Tensor<2> glimpses_;
  std::unique_ptr<SteppedPlay> play_;
};

}  // namespace saccade::python
