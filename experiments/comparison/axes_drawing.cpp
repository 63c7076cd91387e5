// Charts with axes: lines, points and rows.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/comparison/chart_parts.h"

namespace saccade {
namespace {

constexpr double kMark = 22.0;      // length of a mark in the legend
constexpr double kMarkGap = 6.0;    // after the mark
constexpr double kRow = 40.0;       // height of a row in a `rows` chart
constexpr double kLineWidth = 2.0;  // of a series
constexpr double kRunWidth = 0.8;   // of one of its runs
constexpr double kMarker = 3.3;     // half the size of a line's markers
constexpr double kMarkRoom = 8.0;   // half the largest mark, kept free at the end of an axis
constexpr double kBelow = 2.0 * kLine + kGap;

Paint paint_of(const Series& series, double opacity = 1.0) {
  return {Role::variant, series.variant, opacity};
}

std::string on_progress(const Series& series, const Estimate& estimate) {
  constexpr int kDigits = 4;
  const std::string value = short_number(estimate.value, kDigits);
  if (!estimate.known) return fmt::format("{}: {} (one seed)", series.name, value);
  return fmt::format("{}: {} [{}, {}]", series.name, value, short_number(estimate.low, kDigits),
                     short_number(estimate.high, kDigits));
}

// ---- Marks ----

// Five shapes, so that variants stay distinct where colours repeat and in greyscale print.
void add_marker(Drawing& drawing, Place at, double r, int variant, int series) {
  const auto shape = [&](std::initializer_list<Place> corners) {
    Area area;
    for (const Place& c : corners) area.corners.push_back({at.x + r * c.x, at.y + r * c.y});
    drawing.add(std::move(area), {Role::variant, variant}, series);
  };
  switch (variant % 5) {
    case 0:
      return drawing.add(Disc{at, r}, {Role::variant, variant}, series);
    case 1:
      return shape({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case 2:
      return shape({{0.0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
    case 3:
      return shape({{0.0, -1.3}, {1.3, 0.0}, {0.0, 1.3}, {-1.3, 0.0}});
    case 4:
      shape({{-1.1, -0.8}, {-0.8, -1.1}, {1.1, 0.8}, {0.8, 1.1}});
      return shape({{0.8, -1.1}, {1.1, -0.8}, {-0.8, 1.1}, {-1.1, 0.8}});
  }
}

void add_whisker(Drawing& drawing, Place from, Place to, const Series& series) {
  constexpr double kCap = 4.0;
  const bool upright = from.x == to.x;
  const double x = upright ? kCap : 0.0, y = upright ? 0.0 : kCap;
  drawing.add(Stroke{{from, to}, kLineWidth}, paint_of(series), series.variant);
  for (const Place& end : {from, to})
    drawing.add(Stroke{{{end.x - x, end.y - y}, {end.x + x, end.y + y}}, kLineWidth},
                paint_of(series), series.variant);
}

// ---- Series ----

// Drawn wherever consecutive points have known intervals, from the first to the last.
void add_band(Drawing& drawing, const Chart& chart, const Series& series) {
  std::vector<Place> upper, lower;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Estimate& estimate = series.estimates[i];
    if (!estimate.known) continue;
    upper.push_back(place_of(chart, drawing.plot, series.x[i], estimate.high));
    lower.push_back(place_of(chart, drawing.plot, series.x[i], estimate.low));
  }
  if (upper.size() < 2) return;
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  drawing.add(Area{upper}, paint_of(series, 0.2), series.variant);
}

// Each run by itself, so that one that fails is seen.
void add_runs(Drawing& drawing, const Chart& chart, const Series& series) {
  for (const std::vector<double>& run : series.runs) {
    Stroke line{.width = kRunWidth};
    for (std::size_t i = 0; i < run.size(); ++i)
      line.points.push_back(place_of(chart, drawing.plot, series.x[i], run[i]));
    if (run.size() > 1) drawing.add(line, paint_of(series, 0.5), series.variant);
  }
}

void add_line(Drawing& drawing, const Chart& chart, const Series& series) {
  constexpr std::size_t kMarkers = 12;  // on a long line
  const auto at = [&](std::size_t i, double y) {
    return place_of(chart, drawing.plot, series.x[i], y);
  };
  Stroke line{.width = kLineWidth};
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.estimates[i].value)) continue;
    line.points.push_back(at(i, series.estimates[i].value));
    points.push_back(i);
  }
  if (points.size() > 1) drawing.add(line, paint_of(series), series.variant);
  const bool whiskers = chart.kind == ChartKind::points;
  const std::size_t every = whiskers ? 1 : 1 + points.size() / kMarkers;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Estimate& estimate = series.estimates[points[k]];
    if (whiskers && estimate.known)
      add_whisker(drawing, at(points[k], estimate.low), at(points[k], estimate.high), series);
    if (k % every == 0 || k + 1 == points.size())
      add_marker(drawing, line.points[k], kMarker, series.variant, series.variant);
  }
}

void add_row(Drawing& drawing, const Chart& chart, const Series& series) {
  const double row = series.x.front();
  const Estimate& estimate = series.estimates.front();
  const auto at = [&](double value) { return place_of(chart, drawing.plot, value, row); };
  for (const double single : series.singles) {
    if (!std::isfinite(single)) continue;
    const Place below = {at(single).x, at(single).y + 11.0};  // so that neither hides the other
    drawing.add(Disc{below, 2.8}, paint_of(series, 0.5), series.variant);
  }
  if (!std::isfinite(estimate.value)) return;
  if (estimate.known) add_whisker(drawing, at(estimate.low), at(estimate.high), series);
  add_marker(drawing, at(estimate.value), 5.5, series.variant, series.variant);
}

// ---- Tooltips ----

// A column around each x, with every series that has a point there.
void add_column_spots(Drawing& drawing, const Chart& chart) {
  std::map<double, std::string> columns;
  for (const Series& series : chart.series)
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      std::string& text = columns[series.x[i]];
      if (text.empty()) text = told_with_unit(chart.x, series.x[i]);
      text += fmt::format("\n{}", on_progress(series, series.estimates[i]));
    }
  const auto middle = [&](auto a, auto b) {
    return place_of(chart, drawing.plot, (a->first + b->first) / 2.0, chart.y.low).x;
  };
  for (auto column = columns.begin(); column != columns.end(); ++column) {
    const double left =
        column == columns.begin() ? drawing.plot.x : middle(std::prev(column), column);
    const double right = std::next(column) == columns.end() ? drawing.plot.right()
                                                            : middle(column, std::next(column));
    drawing.spots.push_back(
        {{left, drawing.plot.y, right - left, drawing.plot.height}, column->second});
  }
}

void add_row_spots(Drawing& drawing, const Chart& chart) {
  for (const Series& series : chart.series) {
    const Place middle = place_of(chart, drawing.plot, chart.x.low, series.x.front());
    drawing.spots.push_back({{0.0, middle.y - kRow / 2.0, drawing.plot.right(), kRow},
                             on_progress(series, series.estimates.front())});
  }
}

// ---- Axes and legend ----

// Draws below `top`; returns the bottom edge.
double add_legend(Drawing& drawing, const Chart& chart, const Sheet& sheet, double top) {
  const double right = sheet.width - sheet.margin;
  Place at = {sheet.margin, top + kLabel + 2.0};
  for (const Series& series : chart.series) {
    const std::string name =
        fitted_to(series.name, right - sheet.margin - kMark - kMarkGap, kLabel);
    const double width = kMark + kMarkGap + width_of(name, kLabel);
    if (at.x > sheet.margin && at.x + width > right) at = {sheet.margin, at.y + kLine};
    const double middle = at.y - kLabel / 2.0;
    drawing.add(Stroke{{{at.x, middle}, {at.x + kMark, middle}}, kLineWidth}, paint_of(series));
    add_marker(drawing, {at.x + kMark / 2.0, middle}, kMarker, series.variant, -1);
    drawing.add(Words{{at.x + kMark + kMarkGap, at.y}, name, kLabel}, Role::ink);
    drawing.switches.push_back(
        {{at.x, middle - kLine / 2.0, width, kLine}, series.variant, series.name});
    at.x += width + 18.0;
  }
  return at.y + 0.6 * kLine;
}

void add_axes(Drawing& drawing, const Chart& chart, double left) {
  const Rectangle& plot = drawing.plot;
  std::vector<AxisLabel> below, beside;
  for (const Tick& tick : chart.x.ticks) {
    const double x = place_of(chart, plot, tick.value, chart.y.low).x;
    drawing.add(Stroke{{{x, plot.y}, {x, plot.bottom()}}, 1.0}, Role::rule);
    below.push_back({x, tick.label});
  }
  for (const Tick& tick : chart.y.ticks) {
    const double y = place_of(chart, plot, chart.x.low, tick.value).y;
    drawing.add(Stroke{{{plot.x, y}, {plot.right(), y}}, 1.0}, Role::rule);
    beside.push_back({y, tick.label});
  }
  drawing.add(
      Stroke{{{plot.x, plot.y}, {plot.x, plot.bottom()}, {plot.right(), plot.bottom()}}, 1.0},
      Role::soft_ink);
  add_labels_below(drawing, below);
  add_labels_left(drawing, beside, left);
  add_axis_titles(drawing, chart, left);
}

}  // namespace

void add_axes_chart(Drawing& drawing, const Chart& chart, const Sheet& sheet, double top) {
  const bool rows = chart.kind == ChartKind::rows;
  if (!rows) top = add_legend(drawing, chart, sheet, top) + kLine;  // with the axis title
  const double names = widest(labels_of(chart.y));
  const double left =
      sheet.margin + (rows ? std::min(names, sheet.width / 3.0) : names) + kGap + 1.0;
  const double right =
      sheet.width - sheet.margin - std::max(widest(labels_of(chart.x)) / 2.0, kMarkRoom);
  const double height =
      rows ? kRow * static_cast<double>(chart.series.size()) : std::max(220.0, 0.44 * sheet.width);
  drawing.plot = {left, top, right - left, height};
  drawing.height = drawing.plot.bottom() + kBelow + sheet.margin;

  add_axes(drawing, chart, sheet.margin);
  if (rows) {
    for (const Series& series : chart.series) add_row(drawing, chart, series);
    add_row_spots(drawing, chart);
    return;
  }
  if (chart.kind == ChartKind::lines)
    for (const Series& series : chart.series) {
      add_band(drawing, chart, series);
      add_runs(drawing, chart, series);
    }
  for (const Series& series : chart.series) add_line(drawing, chart, series);
  add_column_spots(drawing, chart);
}

}  // namespace saccade
