#include "experiments/comparison/chart_layout.h"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr int kCols = 1600, kMatrixCols = 1200;

std::vector<LegendEntry> legend_of(const Chart& chart, int top) {
  std::vector<LegendEntry> entries;
  Point at{kChartMargin, top};
  for (const Series& series : chart.series) {
    const std::string name =
        fitted(series.name, kCols - 3 * kChartMargin - kChartMark, kChartLabel);
    const int width = kChartMark + text_width(name, kChartLabel) + kChartMargin;
    if (at.x > kChartMargin && at.x + width > kCols) at = {kChartMargin, at.y + kChartLine};
    entries.push_back({at, name});
    at.x += width;
  }
  return entries;
}

int widest_label(const Axis& axis) {
  int width = 0;
  for (const Tick& tick : axis.ticks) width = std::max(width, text_width(tick.label, kChartLabel));
  return width;
}

ChartLayout matrix_layout(const Chart& chart) {
  constexpr int kBar = 190;  // the colour bar and its labels
  const ChartMatrix& matrix = chart.matrix;
  ChartLayout layout{.rows = 0, .cols = kMatrixCols, .plot = {}, .legend = {}};
  int label = 0;
  for (const std::string& name : matrix.names)
    label = std::max(label, text_width(name, kChartLabel));
  const int left = kChartMargin + std::min(std::max(label, widest_label(chart.y)), 220) + 20;
  const int cell = std::max(1, (kMatrixCols - left - kBar) / std::max(matrix.cols, 1));
  layout.plot = {left, 3 * kChartLine, cell * matrix.cols, cell * matrix.rows};
  layout.rows = layout.plot.y + layout.plot.height + 3 * kChartLine;
  return layout;
}

// The share of the way along an axis.
double along(const Axis& axis, double value) {
  if (axis.logarithmic)
    return std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

}  // namespace

ChartLayout layout_of(const Chart& chart) {
  if (is_matrix(chart)) return matrix_layout(chart);
  ChartLayout layout{.rows = 1000, .cols = kCols, .plot = {}, .legend = {}};
  int top = 5 * kChartLine / 2, left = kChartMargin;
  if (chart.kind == ChartKind::rows) {
    constexpr int kRow = 90;
    left += std::min(widest_label(chart.y), kCols / 3) + 20;
    layout.rows = top + kRow * static_cast<int>(chart.series.size()) + 3 * kChartLine;
  } else {
    layout.legend = legend_of(chart, top);
    if (!layout.legend.empty()) top = layout.legend.back().at.y + kChartLine;
    top += kChartLine;  // the title of the vertical axis
    left += widest_label(chart.y) + 20;
    layout.rows = std::max(layout.rows, top + 700);
  }
  const int bottom = layout.rows - 5 * kChartLine / 2;
  layout.plot = {left, top, kCols - left - 2 * kChartMargin, bottom - top};
  return layout;
}

ChartPlace place_of(const Chart& chart, const ChartLayout& layout, double x, double y) {
  const bool downward = is_matrix(chart) || chart.kind == ChartKind::rows;
  const double up = along(chart.y, y);
  return {layout.plot.x + along(chart.x, x) * layout.plot.width,
          layout.plot.y + (downward ? up : 1.0 - up) * layout.plot.height};
}

bool is_matrix(const Chart& chart) {
  return chart.kind == ChartKind::confusion || chart.kind == ChartKind::heat_map;
}

}  // namespace saccade
