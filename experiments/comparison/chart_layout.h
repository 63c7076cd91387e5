#pragma once

#include <string>
#include <vector>

#include "experiments/comparison/chart.h"
#include "experiments/pictures/picture.h"

namespace saccade {

// How a chart is laid out on paper. All in pixels of the finished picture.

inline constexpr int kChartMargin = 40;
inline constexpr int kChartLine = 44;  // from line to line of text
inline constexpr int kChartMark = 54;  // of a mark in the legend, with the gap behind it
inline constexpr TextStyle kChartTitle{.height = 24, .bold = true};
inline constexpr TextStyle kChartLabel{.height = 18};

struct LegendEntry {
  Point at;  // left end of its mark, on the base line
  std::string name;
};

struct ChartLayout {
  int rows = 0, cols = 0;
  Box plot;  // between the axes; of a matrix: a whole number of pixels a cell
  std::vector<LegendEntry> legend;  // one a series, or none
};

ChartLayout layout_of(const Chart& chart);

/// Where the point (x, y), in the units of the axes, is. Rows of matrices and of `rows` go down.
struct ChartPlace {
  double x = 0.0;
  double y = 0.0;
};
ChartPlace place_of(const Chart& chart, const ChartLayout& layout, double x, double y);

/// Whether it is one of `confusion` and `heat_map`.
bool is_matrix(const Chart& chart);

}  // namespace saccade
