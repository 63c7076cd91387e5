#pragma once

#include "experiments/comparison/chart_drawing.h"

namespace saccade {

// What charts with axes and matrices have in common.

inline constexpr double kLabel = 8.8;  // height of a capital letter
inline constexpr double kLine = 20.0;  // from line to line of text
inline constexpr double kGap = 7.0;    // between an axis and its labels

/// A word at a place along an axis.
struct AxisLabel {
  double at = 0.0;  // x or y in the drawing
  std::string text;
};

/// Of the labels of the vertical axis.
double widest(const std::vector<std::string>& labels);
std::vector<std::string> labels_of(const Axis& axis);

/// Below the plot, each where it does not touch the one before it.
void add_labels_below(Drawing& drawing, const std::vector<AxisLabel>& labels);
/// Left of the plot, no wider than there is room from `left`.
void add_labels_left(Drawing& drawing, const std::vector<AxisLabel>& labels, double left);
/// Of the horizontal axis below its labels, of the vertical one above the plot.
void add_axis_titles(Drawing& drawing, const Chart& chart, double left);

/// Draws a chart of `confusion` or `heat_map` below `top`.
void add_matrix(Drawing& drawing, const Chart& chart, const Sheet& sheet, double top);
/// Draws any other chart below `top`.
void add_axes_chart(Drawing& drawing, const Chart& chart, const Sheet& sheet, double top);

}  // namespace saccade
