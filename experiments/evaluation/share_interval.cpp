#include "experiments/evaluation/share_interval.h"

#include <cmath>
#include <map>
#include <numeric>

namespace saccade {

void wilson_interval(double share, double count, double& low, double& high) {
  constexpr double z = 1.959963985;
  const double n = count;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // The ends are exact where rounding would leave a trace of the other terms.
  low = share > 0.0 ? centre - half : 0.0;
  high = share < 1.0 ? centre + half : 1.0;
}

ShareInterval share_interval(std::span<const float> values, std::span<const int> sources) {
  struct Group {
    double sum = 0.0;
    int scenes = 0;
  };
  std::map<int, Group> groups;
  int alone = 0;  // the others are groups of their own, below 0
  for (std::size_t i = 0; i < values.size(); ++i) {
    Group& group = groups[sources[i] >= 0 ? sources[i] : --alone];
    group.sum += values[i];
    ++group.scenes;
  }
  const auto scenes = static_cast<double>(values.size());
  ShareInterval interval;
  interval.groups = static_cast<int>(groups.size());
  interval.share = std::accumulate(values.begin(), values.end(), 0.0) / scenes;
  double variance = 0.0;  // of the mean, with groups as they are drawn
  for (const auto& [source, group] : groups) {
    const double rest = group.sum - interval.share * group.scenes;
    variance += rest * rest / (scenes * scenes);
  }
  const double spread = interval.share * (1.0 - interval.share);
  double trials = scenes;
  if (groups.size() < values.size()) {
    if (spread == 0.0)  // nothing tells how alike those of a group are
      trials = interval.groups;
    else if (variance * scenes > spread)
      trials = spread / variance;
  }
  wilson_interval(interval.share, trials, interval.low, interval.high);
  return interval;
}

}  // namespace saccade
