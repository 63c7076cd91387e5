#pragma once

#include "experiments/comparison/chart_drawing.h"

namespace saccade {

// Parts shared by charts with axes and by matrices.

inline constexpr double kLabel = 8.8;  // height of a capital letter
inline constexpr double kLine = 20.0;  // from line to line of text
inline constexpr double kGap = 7.0;    // between an axis and its labels

/// A label at a position along an axis.
struct AxisLabel {
  double at = 0.0;  // x or y in the drawing
  std::string text;
};

/// Width of the widest label; for the vertical axis.
double widest(const std::vector<std::string>& labels);
std::vector<std::string> labels_of(const Axis& axis);

/// Draws labels below the plot, skipping those that would touch the one before.
void add_labels_below(Drawing& drawing, const std::vector<AxisLabel>& labels);
/// Draws labels left of the plot, cut to the width available from `left`.
void add_labels_left(Drawing& drawing, const std::vector<AxisLabel>& labels, double left);
/// Draws the title of the horizontal axis below its labels, shifted or cut where the drawing ends,
/// that of the vertical one above the plot. `left`: the margin of the sheet.
void add_axis_titles(Drawing& drawing, const Chart& chart, double left);

/// Draws a chart of `confusion` or `heat_map` below `top`.
void add_matrix(Drawing& drawing, const Chart& chart, const Sheet& sheet, double top);
/// Draws any other chart below `top`.
void add_axes_chart(Drawing& drawing, const Chart& chart, const Sheet& sheet, double top);

}  // namespace saccade
