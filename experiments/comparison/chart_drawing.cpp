#include "experiments/comparison/chart_drawing.h"

#include <algorithm>
#include <cmath>

#include "experiments/comparison/chart_parts.h"

namespace saccade {
namespace {

// Returns the fraction of the way along an axis.
double along(const Axis& axis, double value) {
  if (axis.logarithmic)
    return std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

}  // namespace

Drawing draw_chart(const Chart& chart, const Sheet& sheet) {
  constexpr double kTitle = 12.0;
  Drawing drawing{.width = sheet.width};
  double top = sheet.margin;
  if (sheet.titled) {
    const std::string title = fitted_to(chart.title, sheet.width - 2 * sheet.margin, kTitle);
    drawing.add(Words{{sheet.margin, top + kTitle}, title, kTitle, Align::left, true}, Role::ink);
    top += kTitle + 0.7 * kLine;
  }
  if (is_matrix(chart))
    add_matrix(drawing, chart, sheet, top);
  else
    add_axes_chart(drawing, chart, sheet, top);
  return drawing;
}

Place place_of(const Chart& chart, const Rectangle& plot, double x, double y) {
  const bool downward = is_matrix(chart) || chart.kind == ChartKind::rows;
  const double up = along(chart.y, y);
  return {plot.x + along(chart.x, x) * plot.width,
          plot.y + (downward ? up : 1.0 - up) * plot.height};
}

std::vector<std::string> labels_of(const Axis& axis) {
  std::vector<std::string> labels;
  std::ranges::transform(axis.ticks, std::back_inserter(labels), &Tick::label);
  return labels;
}

double widest(const std::vector<std::string>& labels) {
  double width = 0.0;
  for (const std::string& label : labels) width = std::max(width, width_of(label, kLabel));
  return width;
}

void add_labels_below(Drawing& drawing, const std::vector<AxisLabel>& labels) {
  constexpr double kBetween = 5.0;
  const double base = drawing.plot.bottom() + kGap + kLabel;
  double taken = 0.0;  // right edge of the text drawn so far
  for (const AxisLabel& label : labels) {
    const double half = width_of(label.text, kLabel) / 2.0;
    if (label.at - half < taken || label.at + half > drawing.width) continue;
    drawing.add(Words{{label.at, base}, label.text, kLabel, Align::centre}, Role::ink);
    taken = label.at + half + kBetween;
  }
}

void add_labels_left(Drawing& drawing, const std::vector<AxisLabel>& labels, double left) {
  const double right = drawing.plot.x - kGap;
  for (const AxisLabel& label : labels)
    drawing.add(Words{{right, label.at + kLabel / 2.0},
                      fitted_to(label.text, right - left, kLabel),
                      kLabel,
                      Align::right},
                Role::ink);
}

void add_axis_titles(Drawing& drawing, const Chart& chart, double left) {
  const Rectangle& plot = drawing.plot;
  const double right = drawing.width - left;
  const std::string below = fitted_to(chart.x.title, right - left, kLabel);
  const double half = width_of(below, kLabel) / 2.0;
  const double middle = std::min(plot.x + plot.width / 2.0, right - half);  // stays in the drawing
  drawing.add(Words{{middle, plot.bottom() + kGap + kLabel + kLine}, below, kLabel, Align::centre},
              Role::soft_ink);
  if (chart.y.title.empty()) return;
  drawing.add(Words{{left, plot.y - kGap - 3.0}, chart.y.title, kLabel}, Role::soft_ink);
}

}  // namespace saccade
