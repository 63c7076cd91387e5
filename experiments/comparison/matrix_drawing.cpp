// Matrices: confusions and heat maps.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/comparison/chart_parts.h"
#include "experiments/pictures/colours.h"

namespace saccade {
namespace {

constexpr double kBelowMatrix = 2.0 * kLine + kGap;  // room for the labels and title of the axis
constexpr double kBar = 9.0;
constexpr double kLeastFigure = 6.0;  // of letters in cells

// The square root makes rare confusions visible, which are the interesting ones.
double depth(const ChartMatrix& matrix, double value) {
  return std::sqrt(std::clamp(value / matrix.high, 0.0, 1.0));
}

void add_heat(Drawing& drawing, const ChartMatrix& matrix) {
  Picture colours(matrix.rows, matrix.cols, {});
  for (int row = 0; row < matrix.rows; ++row)
    for (int col = 0; col < matrix.cols; ++col)
      colours.fill({col, row, 1, 1},
                   exposure_colour(matrix.values[row * matrix.cols + col] / matrix.high));
  drawing.add(Pixels{drawing.plot, colours}, {});
}

void add_cells(Drawing& drawing, const Chart& chart) {
  constexpr double kShown = 0.05;  // values that round to 0.0 are left out
  const ChartMatrix& matrix = chart.matrix;
  const double cell = drawing.plot.width / matrix.cols;
  const double letter = std::min(kLabel - 0.5, cell / 4.5);
  for (int row = 0; row < matrix.rows; ++row)
    for (int col = 0; col < matrix.cols; ++col) {
      const double value = matrix.values[row * matrix.cols + col];
      if (!(value > 0.0)) continue;
      const Rectangle place{drawing.plot.x + col * cell, drawing.plot.y + row * cell, cell, cell};
      const double full = depth(matrix, value);
      drawing.add(place, {.role = Role::full_cell, .opacity = full});
      if (letter >= kLeastFigure && value >= kShown)
        drawing.add(Words{{place.x + cell / 2.0, place.y + (cell + letter) / 2.0},
                          fmt::format("{:.1f}", value),
                          letter,
                          Align::centre},
                    full > 0.65 ? Role::paper : Role::ink);
      drawing.spots.push_back(
          {place, fmt::format("{}: {}\n{}: {}\n{} %", chart.y.title, matrix.names[row],
                              chart.x.title, matrix.names[col], short_number(value, 4))});
    }
}

void add_frame(Drawing& drawing, const Rectangle& r) {
  drawing.add(
      Stroke{{{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}, {r.x, r.y}},
             1.0},
      Role::soft_ink);
}

void add_labels(Drawing& drawing, const Chart& chart, double left) {
  const Rectangle& plot = drawing.plot;
  const double cell = plot.width / chart.matrix.cols;
  std::vector<AxisLabel> below, beside;
  if (cell > kLabel + 3.0)
    for (std::size_t i = 0; i < chart.matrix.names.size(); ++i) {
      const double middle = (static_cast<double>(i) + 0.5) * cell;
      below.push_back({plot.x + middle, fitted_to(chart.matrix.names[i], cell, kLabel)});
      beside.push_back({plot.y + middle, chart.matrix.names[i]});
    }
  for (const Tick& tick : chart.x.ticks) below.push_back({plot.x + tick.value * cell, tick.label});
  for (const Tick& tick : chart.y.ticks) beside.push_back({plot.y + tick.value * cell, tick.label});
  add_labels_below(drawing, below);
  add_labels_left(drawing, beside, left);
  add_axis_titles(drawing, chart, left);
}

// Draws the colour scale below the matrix.
void add_colour_bar(Drawing& drawing, const Chart& chart, const Rectangle& bar) {
  constexpr int kSteps = 128;
  const bool heat = chart.kind == ChartKind::heat_map;
  Picture colours(1, kSteps, {});
  for (int i = 0; i < kSteps; ++i) {
    const double share = (i + 0.5) / kSteps;
    const Rectangle step{bar.x + bar.width * i / kSteps, bar.y, bar.width / kSteps, bar.height};
    if (heat)
      colours.fill({i, 0, 1, 1}, exposure_colour(share));
    else
      drawing.add(step, {.role = Role::full_cell, .opacity = std::sqrt(share)});
  }
  if (heat) drawing.add(Pixels{bar, colours}, {});
  add_frame(drawing, bar);
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    drawing.add(Words{{bar.x + share * bar.width, bar.bottom() + kGap + kLabel},
                      short_number(share * chart.matrix.high) + (heat ? "" : " %"),
                      kLabel,
                      share == 0.0   ? Align::left
                      : share == 1.0 ? Align::right
                                     : Align::centre},
                Role::soft_ink);
  if (heat)
    drawing.add(Words{{bar.x + bar.width / 2.0, bar.bottom() + kGap + kLabel + kLine},
                      "looks over the pixel",
                      kLabel,
                      Align::centre},
                Role::soft_ink);
}

}  // namespace

void add_matrix(Drawing& drawing, const Chart& chart, const Sheet& sheet, double top) {
  const ChartMatrix& matrix = chart.matrix;
  const double names = std::max(widest(matrix.names), widest(labels_of(chart.y)));
  const double left = sheet.margin + std::min(names, sheet.width / 5.0) + kGap + 1.0;
  const double right = sheet.width - sheet.margin - widest(labels_of(chart.x)) / 2.0;
  const double cell = (right - left) / std::max(matrix.cols, 1);
  drawing.plot = {left, top + kLine, right - left, cell * matrix.rows};
  const Rectangle bar{left, drawing.plot.bottom() + kBelowMatrix, drawing.plot.width, kBar};
  drawing.height = bar.bottom() + kGap + kLine + sheet.margin;

  if (chart.kind == ChartKind::heat_map) {
    drawing.height += kLine;
    add_heat(drawing, matrix);
  } else {
    add_cells(drawing, chart);
  }
  add_frame(drawing, drawing.plot);
  add_labels(drawing, chart, sheet.margin);
  add_colour_bar(drawing, chart, bar);
}

}  // namespace saccade
