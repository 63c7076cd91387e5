#pragma once

#include <optional>
#include <vector>

namespace saccade {

/// A value with its 95 % interval over the scenes of a test.
struct OverScenes {
  double value = 0.0, low = 0.0, high = 0.0;
};

/// A way to stop looking: how often the answers at the stop are wrong, and after how many looks.
struct StopPoint {
  OverScenes error;  // share of the scenes, in [0, 1]
  OverScenes looks;  // mean number of looks, from 1 to T
};

/// Error against mean looks of an agent that may stop before its last look.
struct StopCurves {
  std::vector<double> thresholds = {};  // (K), ascending; stops as soon as it is surer than that
  std::vector<StopPoint> test = {};     // (K), on the test scenes
  std::vector<StopPoint> valid = {};    // (K), on the validation scenes, which choose a threshold
  std::vector<StopPoint> always = {};   // (T): stops after k looks, k = 1 .. T, on the test scenes
  StopPoint oracle = {};                // stops at the first right answer, on the test scenes
};

/// What a threshold is chosen for, on the validation scenes. At most one is set; with neither, an
/// error at most that of all looks.
struct StopTarget {
  std::optional<double> error = {};  // a share: the fewest mean looks with at most that error
  std::optional<double> looks = {};  // the least error with at most so many mean looks
};

}  // namespace saccade
