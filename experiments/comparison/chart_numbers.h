#pragma once

#include <string>

#include "experiments/comparison/chart.h"

namespace saccade {

/// Returns a chart's numbers as an HTML table with four significant digits: one row per point, or
/// per row of a matrix. Values that are not finite are empty cells.
std::string numbers_table(const Chart& chart);

}  // namespace saccade
