#include "experiments/evaluation/wilson_interval.h"

#include <cmath>

namespace saccade {

void wilson_interval(double share, int count, double& low, double& high) {
  constexpr double z = 1.959963985;
  const double n = count;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // The ends are exact where rounding would leave a trace of the other terms.
  low = share > 0.0 ? centre - half : 0.0;
  high = share < 1.0 ? centre + half : 1.0;
}

}  // namespace saccade
