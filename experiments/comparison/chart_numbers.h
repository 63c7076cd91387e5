#pragma once

#include <string>

#include "experiments/comparison/chart.h"

namespace saccade {

/// The numbers of a chart as an HTML table, with four significant digits: a row a point, or a row
/// of a matrix. What is not finite is an empty cell.
std::string numbers_table(const Chart& chart);

}  // namespace saccade
