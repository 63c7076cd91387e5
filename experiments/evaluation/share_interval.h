#pragma once

#include <span>

namespace saccade {

/// Wilson score interval (1927) at 95 % of a share of `count` independent trials.
void wilson_interval(double share, double count, double& low, double& high);

/// A scene shows an image; both are indices.
struct Shown {
  int scene = 0, image = 0;
};

/// Mean of numbers in [0, 1] with its 95 % interval.
struct ShareInterval {
  double share = 0.0, low = 0.0, high = 0.0;
  int images = 0;  // distinct images shown; a scene that shows none counts as one of its own
};

/// Interval of a mean over scenes, some of which share images. It is Wilson's with the effective
/// number of trials given by the variance of the mean (the design effect; Kish 1965), where results
/// of scenes that share an image may be correlated (multiway clusters; Cameron, Gelbach and Miller
/// 2011): that number is the number of scenes if each shows something different, and the number of
/// images if all scenes of an image have the same result.
ShareInterval share_interval(std::span<const float> values, std::span<const Shown> shown);

}  // namespace saccade
