#pragma once

#include <span>

namespace saccade {

/// Wilson score interval (1927) of a share of `count` independent trials, at 95 %.
void wilson_interval(double share, double count, double& low, double& high);

/// A mean of numbers in [0, 1] with its 95 % interval.
struct ShareInterval {
  double share = 0.0, low = 0.0, high = 0.0;
  int groups = 0;
};

/// Of scenes, some of which show the same: those with the same source are one group, and each with
/// source -1 is a group of its own. The interval is Wilson's with as many trials as the variance of
/// the mean over groups amounts to (the design effect; Kish 1965): of the scenes where each shows
/// something else, of the groups where all of a group come out alike.
ShareInterval share_interval(std::span<const float> values, std::span<const int> sources);

}  // namespace saccade
