#include "experiments/comparison/chart_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/comparison/chart_layout.h"

namespace saccade {
namespace {

constexpr int kFine = 3;  // drawn so many times larger, then shrunk: smooth edges and letters
constexpr Colour kWhite{255, 255, 255}, kInk{20, 20, 20}, kSoftInk{90, 90, 90};
constexpr Colour kGrid{224, 224, 224}, kFrame{130, 130, 130};
constexpr Colour kAgreement = {0, 92, 158};  // of a full cell of a confusion matrix

Colour mixed(Colour from, Colour to, double share) {
  const auto channel = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

// `share` in [0, 1].
Colour heat_colour(double share) {
  const auto& colours = heat_colours();
  const double place = share * static_cast<double>(colours.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), colours.size() - 2);
  return mixed(colours[below], colours[below + 1], place - static_cast<double>(below));
}

// Rare confusions are what one looks for: the root lifts them out of the paper.
Colour cell_colour(const Chart& chart, double value) {
  const double share = std::clamp(value / chart.matrix.high, 0.0, 1.0);
  return chart.kind == ChartKind::heat_map ? heat_colour(share)
                                           : mixed(kWhite, kAgreement, std::sqrt(share));
}

// ---- Drawing ----

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        layout_(layout_of(chart)),
        fine_(layout_.rows * kFine, layout_.cols * kFine, kWhite) {}

  Picture draw() {
    text({kChartMargin, kChartMargin + kChartTitle.height},
         fitted(chart_.title, layout_.cols - 2 * kChartMargin, kChartTitle), kInk, kChartTitle);
    if (is_matrix(chart_)) {
      draw_matrix();
      draw_colour_bar();
    } else {
      draw_axes();
      for (const Series& series : chart_.series) draw_band(series);
      for (const Series& series : chart_.series) draw_series(series);
      draw_legend();
    }
    return fine_.shrunk(kFine);
  }

 private:
  // Places in `fine_`.
  using Place = ChartPlace;
  Place place(double x, double y) const {
    const ChartPlace at = place_of(chart_, layout_, x, y);
    return {kFine * at.x, kFine * at.y};
  }
  static Place of_layout(Point p) { return {double(kFine * p.x), double(kFine * p.y)}; }
  static Point pixel(Place p) {
    return {static_cast<int>(std::lround(p.x)), static_cast<int>(std::lround(p.y))};
  }

  void text(Point at, const std::string& line, Colour colour, TextStyle style) {
    style.height *= kFine;
    fine_.text({at.x * kFine, at.y * kFine}, line, colour, style);
  }
  void line(Place from, Place to, Colour colour, int thickness) {
    fine_.line(pixel(from), pixel(to), colour, thickness * kFine);
  }
  void marker(Place at, const ChartStyle& style, double size);
  void whisker(Place from, Place to, Colour colour);
  void draw_axes();
  void draw_band(const Series& series);
  void draw_series(const Series& series);
  void draw_row(const Series& series, const ChartStyle& style);
  void draw_legend();
  void draw_matrix();
  void draw_matrix_labels();
  void draw_colour_bar();

  const Chart& chart_;
  ChartLayout layout_;
  Picture fine_;
};

void Drawing::marker(Place at, const ChartStyle& style, double size) {
  const double r = size * kFine;
  const auto shape = [&](std::initializer_list<Place> corners) {
    std::vector<Point> points;
    for (const Place& corner : corners)
      points.push_back(pixel({at.x + r * corner.x, at.y + r * corner.y}));
    fine_.polygon(points, style.colour);
  };
  switch (style.marker) {
    case Marker::circle:
      return fine_.disc(pixel(at), static_cast<int>(r), style.colour);
    case Marker::square:
      return shape({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case Marker::triangle:
      return shape({{0.0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
    case Marker::diamond:
      return shape({{0.0, -1.3}, {1.3, 0.0}, {0.0, 1.3}, {-1.3, 0.0}});
    case Marker::cross:
      shape({{-1.1, -0.8}, {-0.8, -1.1}, {1.1, 0.8}, {0.8, 1.1}});
      return shape({{0.8, -1.1}, {1.1, -0.8}, {-0.8, 1.1}, {-1.1, 0.8}});
  }
}

void Drawing::whisker(Place from, Place to, Colour colour) {
  line(from, to, colour, 3);
  constexpr double kCap = 9.0 * kFine;
  const bool upright = from.x == to.x;
  for (const Place& end : {from, to})
    line({end.x - (upright ? kCap : 0.0), end.y - (upright ? 0.0 : kCap)},
         {end.x + (upright ? kCap : 0.0), end.y + (upright ? 0.0 : kCap)}, colour, 3);
}

void Drawing::draw_axes() {
  const Box& plot = layout_.plot;
  const int bottom = plot.y + plot.height, right = plot.x + plot.width;
  for (const Tick& tick : chart_.x.ticks) {
    const Place at = place(tick.value, chart_.y.low);
    const Place end{at.x, double(kFine * plot.y)}, start{at.x, double(kFine * bottom)};
    line(start, end, kGrid, 1);
    text({static_cast<int>(at.x) / kFine, bottom + 12 + kChartLabel.height}, tick.label, kInk,
         {.height = kChartLabel.height, .align = Align::centre});
  }
  for (const Tick& tick : chart_.y.ticks) {
    const Place at = place(chart_.x.low, tick.value);
    line(at, {double(kFine * right), at.y}, kGrid, 1);
    text({plot.x - 14, static_cast<int>(at.y) / kFine + kChartLabel.height / 2},
         fitted(tick.label, plot.x - kChartMargin - 14, kChartLabel), kInk,
         {.height = kChartLabel.height, .align = Align::right});
  }
  for (const Point end : {Point{plot.x, plot.y}, Point{right, bottom}})
    line(of_layout({plot.x, bottom}), of_layout(end), kFrame, 2);
  text({kChartMargin, plot.y - 24}, chart_.y.title, kSoftInk, kChartLabel);
  text({plot.x + plot.width / 2, bottom + 2 * kChartLine}, chart_.x.title, kSoftInk,
       {.height = kChartLabel.height, .align = Align::centre});
}

// From the first to the last point of which the interval is known, wherever it is.
void Drawing::draw_band(const Series& series) {
  if (chart_.kind != ChartKind::lines) return;
  std::vector<Point> upper, lower;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Estimate& estimate = series.estimates[i];
    if (!estimate.known) continue;
    upper.push_back(pixel(place(series.x[i], estimate.high)));
    lower.push_back(pixel(place(series.x[i], estimate.low)));
  }
  if (upper.size() < 2) return;
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  fine_.polygon(upper, chart_style(series.variant).colour, 0.2);
}

void Drawing::draw_series(const Series& series) {
  const ChartStyle style = chart_style(series.variant);
  if (chart_.kind == ChartKind::rows) return draw_row(series, style);
  constexpr std::size_t kMarkers = 12;  // of a long line
  const std::size_t every = chart_.kind == ChartKind::lines ? 1 + series.x.size() / kMarkers : 1;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Estimate& estimate = series.estimates[i];
    const Place here = place(series.x[i], estimate.value);
    if (i > 0) line(place(series.x[i - 1], series.estimates[i - 1].value), here, style.colour, 4);
    if (chart_.kind == ChartKind::points && estimate.known)
      whisker(place(series.x[i], estimate.low), place(series.x[i], estimate.high), style.colour);
    if (i % every == 0 || i + 1 == series.x.size()) marker(here, style, 8.0);
  }
}

void Drawing::draw_row(const Series& series, const ChartStyle& style) {
  const double row = series.x.front();
  const Estimate& estimate = series.estimates.front();
  const ChartStyle pale{mixed(style.colour, kWhite, 0.5), Marker::circle};
  for (const double single : series.singles) {
    Place at = place(single, row);
    at.y += 24.0 * kFine;  // below the whisker, so that neither hides the other
    marker(at, pale, 6.0);
  }
  if (estimate.known) whisker(place(estimate.low, row), place(estimate.high, row), style.colour);
  marker(place(estimate.value, row), style, 11.0);
}

void Drawing::draw_legend() {
  for (std::size_t i = 0; i < layout_.legend.size(); ++i) {
    const auto& [at, name] = layout_.legend[i];
    const ChartStyle style = chart_style(chart_.series[i].variant);
    const int middle = at.y - kChartLabel.height / 2;
    line(of_layout({at.x, middle}), of_layout({at.x + kChartMark - 14, middle}), style.colour, 4);
    marker(of_layout({at.x + (kChartMark - 14) / 2, middle}), style, 8.0);
    text({at.x + kChartMark, at.y}, name, kInk, kChartLabel);
  }
}

void Drawing::draw_matrix() {
  const ChartMatrix& matrix = chart_.matrix;
  const Box& plot = layout_.plot;
  const int cell = plot.width / std::max(matrix.cols, 1);
  const TextStyle figure{.height = std::min(18, cell / 4), .align = Align::centre};
  for (int row = 0; row < matrix.rows; ++row)
    for (int col = 0; col < matrix.cols; ++col) {
      const double value = matrix.values[row * matrix.cols + col];
      const Point corner{plot.x + col * cell, plot.y + row * cell};
      const Colour colour = cell_colour(chart_, value);
      fine_.fill({corner.x * kFine, corner.y * kFine, cell * kFine, cell * kFine}, colour);
      if (chart_.kind == ChartKind::heat_map || figure.height < 8 || value < 0.05) continue;
      text({corner.x + cell / 2, corner.y + (cell + figure.height) / 2},
           fmt::format("{:.1f}", value), colour.red < 128 ? kWhite : kInk, figure);
    }
  fine_.outline({plot.x * kFine, plot.y * kFine, plot.width * kFine, plot.height * kFine}, kFrame,
                kFine);
  draw_matrix_labels();
}

void Drawing::draw_matrix_labels() {
  const ChartMatrix& matrix = chart_.matrix;
  const Box& plot = layout_.plot;
  const int bottom = plot.y + plot.height;
  const auto across = [&](double x, const std::string& label, int width) {
    text({plot.x + static_cast<int>(x), bottom + 14 + kChartLabel.height},
         fitted(label, width, kChartLabel), kInk,
         {.height = kChartLabel.height, .align = Align::centre});
  };
  const auto down = [&](double y, const std::string& label) {
    text({plot.x - 12, plot.y + static_cast<int>(y) + kChartLabel.height / 2},
         fitted(label, plot.x - kChartMargin, kChartLabel), kInk,
         {.height = kChartLabel.height, .align = Align::right});
  };
  const double cell = double(plot.width) / std::max(matrix.cols, 1);
  if (cell > kChartLabel.height) {
    for (std::size_t i = 0; i < matrix.names.size(); ++i) {
      across((double(i) + 0.5) * cell, matrix.names[i], static_cast<int>(cell));
      down((double(i) + 0.5) * cell, matrix.names[i]);
    }
  }
  for (const Tick& tick : chart_.x.ticks) across(tick.value * cell, tick.label, plot.width);
  for (const Tick& tick : chart_.y.ticks) down(tick.value * cell, tick.label);
  text({plot.x + plot.width / 2, bottom + 2 * kChartLine}, chart_.x.title, kSoftInk,
       {.height = kChartLabel.height, .align = Align::centre});
  text({kChartMargin, plot.y - 20}, chart_.y.title, kSoftInk, kChartLabel);
}

void Drawing::draw_colour_bar() {
  const Box& plot = layout_.plot;
  const Box bar{plot.x + plot.width + 30, plot.y, 26, plot.height};
  for (int y = 0; y < bar.height; ++y) {
    const double value = chart_.matrix.high * (1.0 - (y + 0.5) / bar.height);
    fine_.fill({bar.x * kFine, (bar.y + y) * kFine, bar.width * kFine, kFine},
               cell_colour(chart_, value));
  }
  fine_.outline({bar.x * kFine, bar.y * kFine, bar.width * kFine, bar.height * kFine}, kFrame,
                kFine);
  const std::string unit = chart_.kind == ChartKind::confusion ? " %" : "";
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const int y = bar.y + static_cast<int>((1.0 - share) * bar.height);
    text({bar.x + bar.width + 10, y + kChartLabel.height / 2},
         short_number(share * chart_.matrix.high) + unit, kInk, kChartLabel);
  }
  if (chart_.kind == ChartKind::heat_map)
    text({layout_.cols - kChartMargin, plot.y - 20}, "looks over the pixel", kSoftInk,
         {.height = kChartLabel.height, .align = Align::right});
}

}  // namespace

Picture chart_picture(const Chart& chart) { return Drawing(chart).draw(); }

}  // namespace saccade
