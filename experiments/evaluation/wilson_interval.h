#pragma once

namespace saccade {

/// Wilson score interval (1927) of a share, at 95 %.
void wilson_interval(double share, int count, double& low, double& high);

}  // namespace saccade
