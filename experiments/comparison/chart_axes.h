#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/comparison/chart.h"

namespace saccade {

// Axes that fit series, for those who make charts.

inline constexpr double kPercent = 100.0;

struct Limits {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value);
};

Limits range_of_x(const std::vector<Series>& series);
/// Includes the intervals and the single runs.
Limits range_of_estimates(const std::vector<Series>& series);

/// Errors in per cent, which span orders of magnitude during learning: a logarithmic axis then,
/// otherwise one from zero.
Axis error_axis(const std::vector<Series>& series);
/// Integer glimpse counts, each labelled if there is room.
Axis glimpse_axis(const std::string& title, const std::vector<Series>& series);

/// What the numbers along an axis are divided by, and its name then.
struct Unit {
  double size;
  std::string name;
};

/// Single, thousand or million episodes, by the largest number shown.
Unit episode_unit(double most);
/// GFLOP, TFLOP or PFLOP.
Unit work_unit(double most_gflop);

}  // namespace saccade
