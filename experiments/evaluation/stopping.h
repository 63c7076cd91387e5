#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/model/model.h"
#include "experiments/evaluation/share_interval.h"
#include "experiments/files/stop_curves.h"

namespace saccade {

/// What an agent knew after each of T looks at N scenes.
struct LookOutcomes {
  int looks = 0;                         // T
  std::vector<float> sureness = {};      // (N, T), in [0, 1], to be compared with a threshold: the
                                         // probability of the answer then; of agents that learned
                                         // to stop, that of having stopped
  std::vector<std::uint8_t> right = {};  // (N, T): whether the answer after that look is right
  std::vector<Shown> shown = {};         // what the scenes show; empty: all of them something else

  int scenes() const { return looks > 0 ? static_cast<int>(right.size()) / looks : 0; }
};

/// Returns whether an agent can be stopped before its last look: it answers one class or stops by
/// itself (attention.glimpse.stop), and has more than one look.
bool may_stop(const Model& model);
/// Throws InputError unless may_stop. `given` begins the message: "--stop 0.97".
void require_may_stop(const Model& model, const std::string& given);

/// Throws InputError naming `option` unless the threshold is above 0 and below 1.
void check_threshold(double threshold, const std::string& option);
/// Throws InputError, naming options: unless at most one of the two is set, unless the error is a
/// share from 0 to 1, and unless the mean looks are from 1 to T.
void check_target(const StopTarget& target, int looks);

/// The thresholds of StopCurves: 0, which stops after the first look; 0.1 to 0.9999, denser towards
/// 1; and 1, which never stops.
std::vector<double> stop_thresholds();

/// Returns the number of looks, from 1 to T, at one scene: until `sureness` (T) is above the
/// threshold, else T.
int looks_until_sure(std::span<const float> sureness, double threshold);
/// Returns the number of looks, from 1 to T, at each scene (N): until the agent is surer than
/// `threshold`, else T.
std::vector<int> looks_until_sure(const LookOutcomes& outcomes, double threshold);
/// Until its answer is right, else T: of an oracle, whose error no rule can fall below.
std::vector<int> looks_until_right(const LookOutcomes& outcomes);

/// Error and mean looks of one agent on the same scenes, for different rules to stop.
class StopMeasure {
 public:
  /// Keeps a reference to `outcomes`.
  explicit StopMeasure(const LookOutcomes& outcomes);

  /// `looks` (N) is the number of looks at each scene, from 1 to T: by any rule, or as an agent
  /// that learned to stop decided. The interval of the error is that of share_interval; that of the
  /// looks is SceneGroups::mean's.
  StopPoint at(std::span<const int> looks) const;
  /// For each of `thresholds`.
  std::vector<StopPoint> at_thresholds(std::span<const double> thresholds) const;
  /// After k looks for k = 1 .. T.
  std::vector<StopPoint> always() const;

 private:
  const LookOutcomes& outcomes_;
  SceneGroups groups_;
};

/// Returns stop_thresholds() and their points on the validation scenes.
StopCurves stop_curves(const LookOutcomes& valid);
/// Adds everything on the test scenes.
void add_test(StopCurves& curves, const LookOutcomes& test);

/// Returns the index of the threshold that is best for the target on the validation scenes; of
/// equals, the lowest. Uses only those. Throws InputError, naming the option, for an error or for
/// mean looks that no threshold reaches.
std::size_t chosen_threshold(const StopCurves& curves, const StopTarget& target);

/// The cost of an episode of `looks` looks on average, forward only: what an episode of T looks
/// costs that is only played, less what each further look adds.
struct EpisodeCost {
  double gflop = 0.0;
  double canvas_pixels = 0.0;  // under the looks, widest scale
};
EpisodeCost cost_of(const Model& model, double looks);

}  // namespace saccade
