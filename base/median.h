#pragma once

#include <algorithm>
#include <vector>

namespace saccade {

/// The middle of `values` (>= 1); of an even number the mean of the two in the middle.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

}  // namespace saccade
