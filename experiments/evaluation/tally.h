#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "experiments/evaluation/set_sizes.h"
#include "experiments/evaluation/share_interval.h"

namespace saccade {

/// Returns the most probable class.
int most_probable(const float* p, int classes);

/// Sums over the scenes of a chunk and all their passes.
struct Tally {
  std::vector<float> errors;  // one per scene
  std::vector<Shown> shown;   // from SceneFacts::sources
  double edits = 0.0, symbols = 0.0;
  double on_answer = 0.0;
  double border = 0.0;
  double distance = 0.0;
  double coverage = 0.0;
  double entropy = 0.0;
  std::vector<int> looks;         // (T): episodes that came to look t
  std::vector<double> on_target;  // (T)
  std::vector<double> zoom;       // (T)

  // Only if details are requested:
  std::vector<int> errors_by_glimpse;  // (T)
  std::vector<int> confusion;          // (C, C)
  std::vector<float> look_map;         // (rows, cols)
  // And only if the agent may stop before its last look, of each scene (LookOutcomes):
  std::vector<float> sureness;      // (N, T)
  std::vector<std::uint8_t> right;  // (N, T)
  // And only of a visual search:
  std::vector<SearchedScene> searched;  // (N)

  /// For a pass of `steps` glimpses.
  explicit Tally(int steps = 0) : looks(steps, 0), on_target(steps, 0.0), zoom(on_target) {}

  /// Adds the look of step t of one episode that came so far.
  void add_look(int t, const SceneFacts& facts, const Gaze& gaze);
  /// Adds the prediction of an episode, and which looks it attends to.
  void add_answer(const Model& model, const Rollout& rollout, int b);
  /// Adds the first `count` episodes of a rollout that classified at every step.
  void add_details(const Model& model, const Rollout& rollout, int count);
};

/// Serialises tallies for sending between ranks, and back.
std::string to_bytes(std::span<const Tally> tallies);
void from_bytes(std::span<Tally> tallies, std::string_view bytes);

}  // namespace saccade
