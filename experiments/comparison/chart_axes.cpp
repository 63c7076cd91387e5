#include "experiments/comparison/chart_axes.h"

#include <algorithm>

namespace saccade {

void Limits::add(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

Limits range_of_x(const std::vector<Series>& series) {
  Limits range;
  for (const Series& one : series)
    for (const double x : one.x) range.add(x);
  return range;
}

Limits range_of_estimates(const std::vector<Series>& series) {
  Limits range;
  for (const Series& one : series) {
    for (const Estimate& estimate : one.estimates)
      for (const double value : {estimate.value, estimate.low, estimate.high}) range.add(value);
    for (const double single : one.singles) range.add(single);
    for (const std::vector<double>& run : one.runs)
      for (const double value : run) range.add(value);
  }
  return range;
}

Axis error_axis(const std::vector<Series>& series) {
  const std::string title = "error, %";
  const Limits range = range_of_estimates(series);
  if (range.low > 0.0 && range.high > 8.0 * range.low)
    return logarithmic_axis(title, range.low, range.high);
  return linear_axis(title, 0.0, range.high);
}

Axis glimpse_axis(const std::string& title, const std::vector<Series>& series) {
  const Limits range = range_of_x(series);
  const int last = static_cast<int>(range.high);
  const int step = std::max(1, (last + 15) / 16);
  Axis axis{.title = title, .low = range.low - 0.5, .high = range.high + 0.5};
  for (int glimpse = static_cast<int>(range.low); glimpse <= last; glimpse += step)
    axis.ticks.push_back({double(glimpse), std::to_string(glimpse)});
  return axis;
}

Unit episode_unit(double most) {
  if (most >= 2e6) return {1e6, "million episodes"};
  if (most >= 2e4) return {1e3, "thousand episodes"};
  return {1.0, "episodes"};
}

Unit work_unit(double most_gflop) {
  if (most_gflop >= 2e6) return {1e6, "PFLOP"};
  if (most_gflop >= 2e3) return {1e3, "TFLOP"};
  return {1.0, "GFLOP"};
}

}  // namespace saccade
