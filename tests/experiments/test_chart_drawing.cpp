#include "experiments/comparison/chart_drawing.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "experiments/comparison/report_files.h"
#include "experiments/pictures/colours.h"
#include "tests/experiments/comparisons.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

bool near(Colour a, Colour b) {
  return std::abs(a.red - b.red) < 40 && std::abs(a.green - b.green) < 40 &&
         std::abs(a.blue - b.blue) < 40;
}

Colour drawn_at(const Chart& chart, const Picture& picture, double x, double y) {
  const Place at = place_of(chart, paper_drawing(chart).plot, x, y);
  return picture.at({static_cast<int>(at.x * kPaperScale), static_cast<int>(at.y * kPaperScale)});
}

TEST_CASE("a drawing's positions grow with x and y, logarithmically on a logarithmic axis") {
  Chart chart{.x = linear_axis("", 0.0, 10.0), .y = logarithmic_axis("", 1.0, 100.0)};
  const Rectangle plot{10.0, 20.0, 400.0, 300.0};
  const Place corner = place_of(chart, plot, 0.0, 1.0);
  CHECK(corner.x == doctest::Approx(plot.x));
  CHECK(corner.y == doctest::Approx(plot.bottom()));
  const Place inside = place_of(chart, plot, 2.5, 10.0);
  CHECK(inside.x == doctest::Approx(plot.x + 0.25 * plot.width));
  CHECK(inside.y == doctest::Approx(plot.y + 0.5 * plot.height));
  CHECK(place_of(chart, plot, 0.0, 100.0).y == doctest::Approx(plot.y));
  CHECK(place_of(chart, plot, 0.0, 0.0).y == doctest::Approx(corner.y));  // at the edge
  chart.kind = ChartKind::rows;
  chart.y = {.low = -0.5, .high = 1.5};
  CHECK(place_of(chart, plot, 0.0, 0.0).y < place_of(chart, plot, 0.0, 1.0).y);
}

TEST_CASE("a chart's picture has each series' colour at its points") {
  Comparison comparison = two_variants();
  comparison.variants[1].num_glimpses = 6;
  for (const Chart& chart : charts_of(comparison)) {
    if (is_matrix(chart)) continue;
    CAPTURE(chart.id);
    const Picture picture = chart_picture(chart);
    CHECK(picture.cols() == 1600);
    CHECK(picture.rows() == std::ceil(paper_drawing(chart).height * kPaperScale));
    const bool rows = chart.kind == ChartKind::rows;
    for (const Series& series : chart.series) {
      // Its last point is that of always all looks, which is drawn over it.
      if (chart.id.starts_with("stopping_") && &series == &chart.series.front()) continue;
      const double x = series.x.back(), y = series.estimates.back().value;
      const Colour colour = rows ? drawn_at(chart, picture, y, x) : drawn_at(chart, picture, x, y);
      CHECK(near(colour, variant_colour(series.variant)));
    }
    CHECK(picture.at({2, 2}) == Colour{255, 255, 255});
  }
}

TEST_CASE("a band is drawn between its ends, and not for a single seed") {
  for (const int seeds : {1, 5}) {
    const Chart chart =
        chart_of(made_comparison({made_variant("a", 0.02, seeds, 4)}), "learning_episodes");
    const Picture picture = chart_picture(chart);
    const Series& series = chart.series[0];
    // Between two evaluations and off the line: 4 % above it, within a band of 12 %.
    const double x = (series.x[2] + series.x[3]) / 2.0;
    const double y = 1.05 * (series.estimates[2].value + series.estimates[3].value) / 2.0;
    const Colour here = drawn_at(chart, picture, x, y);
    CHECK((here == Colour{255, 255, 255}) == (seeds == 1));
    CHECK(here.blue > here.red - (seeds == 1));
  }
}

TEST_CASE("a heat map's picture is dark where nothing is looked at and bright at the maximum") {
  const Chart chart = chart_of(two_variants(), "looks_2");
  const Picture picture = chart_picture(chart);
  CHECK(picture.cols() == 1200);
  CHECK(near(drawn_at(chart, picture, 0.5, 0.5), exposure_colour(0.0)));
  const auto peak =
      static_cast<int>(std::ranges::max_element(chart.matrix.values) - chart.matrix.values.begin());
  CHECK(near(drawn_at(chart, picture, peak % 8 + 0.5, peak / 8 + 0.5), exposure_colour(1.0)));
}

TEST_CASE("a confusion matrix gets darker with the share") {
  const Chart chart = chart_of(two_variants(), "confusion_1");
  const Picture picture = chart_picture(chart);
  // Near the cells' corners, away from the numbers.
  const Colour right = drawn_at(chart, picture, 0.1, 0.1);
  const Colour rare = drawn_at(chart, picture, 1.1, 0.1);
  const Colour never = drawn_at(chart, picture, 2.1, 0.1);
  CHECK(never == Colour{255, 255, 255});
  CHECK(rare.red < never.red);
  CHECK(right.red < rare.red - 50);
}

// The extent of a shape.
std::vector<Place> reach_of(const Form& form) {
  if (const auto* stroke = std::get_if<Stroke>(&form)) return stroke->points;
  if (const auto* area = std::get_if<Area>(&form)) return area->corners;
  const auto corners = [](const Rectangle& r) {
    return std::vector<Place>{{r.x, r.y}, {r.right(), r.bottom()}};
  };
  if (const auto* rectangle = std::get_if<Rectangle>(&form)) return corners(*rectangle);
  if (const auto* pixels = std::get_if<Pixels>(&form)) return corners(pixels->where);
  if (const auto* disc = std::get_if<Disc>(&form)) {
    const double r = disc->radius;
    return corners({disc->centre.x - r, disc->centre.y - r, 2.0 * r, 2.0 * r});
  }
  const Words& words = std::get<Words>(form);
  const double width = width_of(words.line, words.height);
  const double left = words.at.x - (words.align == Align::left     ? 0.0
                                    : words.align == Align::centre ? width / 2.0
                                                                   : width);
  return corners({left, words.at.y - words.height, width, words.height});
}

void check_inside(const Drawing& drawing) {
  for (const Shape& shape : drawing.shapes)
    for (const Place& place : reach_of(shape.form)) {
      CHECK(place.x >= 0.0);
      CHECK(place.x <= drawing.width);
      CHECK(place.y >= 0.0);
      CHECK(place.y <= drawing.height);
    }
}

TEST_CASE("long names and many variants stay inside the drawing: wide, narrow and in print") {
  std::vector<Variant> variants;
  for (int i = 0; i < 12; ++i)
    variants.push_back(
        made_variant(std::string(150, 'w') + std::to_string(i), 0.02 + 0.01 * i, 1 + i % 2, 3));
  Comparison comparison = made_comparison(variants);
  comparison.class_names = {std::string(60, 'w'), "one", std::string(60, 'w')};
  for (const Chart& chart : charts_of(comparison))
    for (const Sheet& sheet : {Sheet{.width = 800.0}, Sheet{.width = 360.0},
                               Sheet{.width = 480.0, .margin = 16.0, .titled = true}}) {
      CAPTURE(chart.id);
      CAPTURE(sheet.width);
      const Drawing drawing = draw_chart(chart, sheet);
      CHECK(drawing.plot.width > drawing.width / 2.0);
      CHECK(drawing.plot.height > drawing.height / 4.0);
      check_inside(drawing);
    }
}

TEST_CASE("marks at the ends of the axes are complete") {
  for (const ChartKind kind : {ChartKind::lines, ChartKind::points, ChartKind::rows})
    for (int variant = 0; variant < 5; ++variant) {  // one for every marker shape
      CAPTURE(static_cast<int>(kind));
      CAPTURE(variant);
      const bool rows = kind == ChartKind::rows;
      const Estimate one{.value = 5.0, .low = 5.0, .high = 5.0, .known = true};
      const Axis axis{.low = 0.0, .high = 5.0, .ticks = {{0.0, "0"}, {5.0, "5"}}};
      const Chart chart{.kind = kind,
                        .x = axis,
                        .y = rows ? Axis{.low = -0.5, .high = 0.5} : axis,
                        .series = {{.name = "one",
                                    .variant = variant,
                                    .x = {rows ? 0.0 : 5.0},
                                    .estimates = {one},
                                    .singles = {5.0}}}};
      check_inside(draw_chart(chart, {.width = 360.0}));
    }
}

TEST_CASE("labels along an axis do not touch") {
  Comparison comparison = two_variants();
  comparison.class_names = {"a rather long name", "another one that is long", "and a third"};
  for (const Chart& chart : charts_of(comparison)) {
    CAPTURE(chart.id);
    const Drawing drawing = draw_chart(chart, {.width = 360.0});
    double taken = 0.0, base = 0.0;
    for (const Shape& shape : drawing.shapes) {
      const Words* words = std::get_if<Words>(&shape.form);
      if (words == nullptr || words->align != Align::centre || shape.paint.role != Role::ink ||
          words->at.y < drawing.plot.bottom())
        continue;
      if (words->at.y != base) taken = 0.0;
      base = words->at.y;
      CHECK(reach_of(shape.form)[0].x >= taken);
      taken = reach_of(shape.form)[1].x;
    }
    CHECK(taken > 0.0);
  }
}

TEST_CASE("a name is shortened in the middle, between characters, and never becomes longer") {
  const TextStyle style{.height = 18};
  CHECK(contains(fitted("attention.glimpse.kind=soft_grid", 150, style), "..."));
  CHECK(text_width(fitted("attention.glimpse.kind=soft_grid", 150, style), style) <= 150);
  CHECK(fitted("seven", 10, style) == "seven");
  CHECK(fitted("\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc", 10, style) == "\u00fc...\u00fc");
}

TEST_CASE("35 variants are distinct, the first seven by colour") {
  const auto look = [](int variant) {  // colours and marker in the legend
    const Chart chart{.x = linear_axis("", 0, 1),
                      .y = linear_axis("", 0, 1),
                      .series = {{.variant = variant, .x = {0.5}, .estimates = {{}}}}};
    std::string all;
    for (const Shape& shape : draw_chart(chart, {}).shapes) {
      if (shape.paint.role != Role::variant) continue;
      const Colour colour = colour_on_paper(shape.paint);
      all += fmt::format("{},{},{}:{}:{};", colour.red, colour.green, colour.blue,
                         shape.form.index(), reach_of(shape.form)[0].x - reach_of(shape.form)[0].y);
    }
    return all;
  };
  for (int a = 0; a < 35; ++a)
    for (int b = 0; b < a; ++b) {
      CHECK(look(a) != look(b));
      if (a < 7) CHECK(variant_colour(a) != variant_colour(b));
    }
}

TEST_CASE("a map in cells of several pixels is labelled in pixels") {
  Variant variant = made_variant("soft", 0.1, 2, 3);
  variant.look_map = {
      .rows = 50, .cols = 50, .exposure = std::vector<double>(2500, 0.1), .cell = 2};
  variant.look_map.exposure[10 * 50 + 20] = 1.0;
  const Chart chart = chart_of(made_comparison({variant}), "looks_1");
  CHECK(chart.x.ticks.back().value == 50.0);
  CHECK(chart.x.ticks.back().label == "100");
  CHECK(contains(chart.text, "100 x 100 pixels: most at pixel (40, 20)"));
}

}  // namespace
}  // namespace saccade
