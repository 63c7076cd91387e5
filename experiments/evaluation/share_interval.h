#pragma once

#include <span>

namespace saccade {

/// Wilson score interval (1927) of a share of `count` independent trials, at 95 %.
void wilson_interval(double share, double count, double& low, double& high);

/// A scene shows an image; both by number.
struct Shown {
  int scene = 0, image = 0;
};

/// A mean of numbers in [0, 1] with its 95 % interval.
struct ShareInterval {
  double share = 0.0, low = 0.0, high = 0.0;
  int images = 0;  // that are shown; a scene that shows none counts as one of its own
};

/// Of scenes, some of which have images in common. The interval is Wilson's with as many trials as
/// the variance of the mean amounts to (the design effect; Kish 1965), where scenes with an image
/// in common may come out alike (multiway clusters; Cameron, Gelbach and Miller 2011): of the
/// scenes where each shows something else, of the images where all scenes of one come out alike.
ShareInterval share_interval(std::span<const float> values, std::span<const Shown> shown);

}  // namespace saccade
