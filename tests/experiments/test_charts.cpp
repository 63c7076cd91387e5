#include "experiments/comparison/chart.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/experiments/comparisons.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

Names ids_of(const std::vector<Chart>& charts) {
  Names ids;
  for (const Chart& chart : charts) ids.push_back(chart.id);
  return ids;
}

Names labels_of(const Axis& axis) {
  Names labels;
  for (const Tick& tick : axis.ticks) labels.push_back(tick.label);
  return labels;
}

void set_gflop(Variant& variant, double gflop_per_episode) {
  variant.gflop_per_episode = gflop_per_episode;
  for (CurvePoint& point : variant.curve) point.gflop = gflop_per_episode * point.episodes;
}

TEST_CASE("an axis runs between round numbers") {
  CHECK(labels_of(linear_axis("", 0.0, 5.3)) == Names{"0", "1", "2", "3", "4", "5", "6"});
  CHECK(labels_of(linear_axis("", 2.31, 2.58)) ==
        Names{"2.30", "2.35", "2.40", "2.45", "2.50", "2.55", "2.60"});
  CHECK(labels_of(linear_axis("", -30.0, 100.0, 4)) == Names{"-50", "0", "50", "100"});
  CHECK(labels_of(logarithmic_axis("", 1.3, 88.0)) ==
        Names{"1", "2", "5", "10", "20", "50", "100"});
  CHECK(labels_of(logarithmic_axis("", 0.03, 0.4)) == Names{"0.02", "0.05", "0.1", "0.2", "0.5"});
  for (const double value : {0.0, 3.0, -2.0, 1e-9}) {
    const Axis axis = linear_axis("", value, value);
    CHECK(axis.low < value);
    CHECK(axis.high > value);
    CHECK(axis.ticks.size() > 1);
  }
}

TEST_CASE("numbers are short and have no exponents") {
  for (const auto& [value, text] :
       std::vector<std::pair<double, std::string>>{{0.0, "0"},
                                                   {1234567.0, "1234567"},
                                                   {12.34, "12.3"},
                                                   {2.0, "2"},
                                                   {-0.01234, "-0.0123"},
                                                   {100.0, "100"}})
    CHECK(short_number(value) == text);
}

TEST_CASE("a comparison's charts have exactly its numbers, in per cent and round units") {
  Comparison comparison = two_variants();
  set_gflop(comparison.variants[0], 0.005);
  const std::vector<Chart> charts = charts_of(comparison);
  CHECK(ids_of(charts) == Names{"final_error", "learning_episodes", "error_by_glimpse",
                                "error_by_looks", "on_target_by_glimpse", "cost_gflop",
                                "cost_seconds", "stopping_1", "stopping_2", "looks_1", "looks_2",
                                "confusion_1", "confusion_2"});
  const Variant& hard = comparison.variants[1];

  const Series& curve = chart_named(charts, "learning_episodes").series.at(1);
  CHECK(curve.name == "hard");
  REQUIRE(curve.x.size() == hard.curve.size());
  for (std::size_t i = 0; i < hard.curve.size(); ++i) {
    CHECK(curve.x[i] == doctest::Approx(hard.curve[i].episodes / 1e6));
    CHECK(curve.estimates[i].value == doctest::Approx(100.0 * hard.curve[i].error.value));
    CHECK(curve.estimates[i].low == doctest::Approx(100.0 * hard.curve[i].error.low));
    CHECK(curve.estimates[i].high == doctest::Approx(100.0 * hard.curve[i].error.high));
    CHECK(curve.estimates[i].known);
  }
  REQUIRE(curve.runs.size() == 4);
  CHECK(curve.runs[2][5] == doctest::Approx(100.0 * hard.run_curves[2][5]));
  CHECK(contains(chart_named(charts, "learning_episodes").text, "Thin lines are single runs."));
  CHECK(chart_named(charts, "learning_episodes").x.title == "million episodes");
  const Chart& seconds = chart_named(charts, "cost_seconds");
  CHECK(seconds.x.title == "training time, h:mm:ss");
  CHECK(seconds.x.logarithmic);
  CHECK(seconds.series[1].x.back() == doctest::Approx(75.0 * 60.0));

  // 0.0123 GFLOP per episode.
  const Chart& work = chart_named(charts, "cost_gflop");
  CHECK(work.x.title == "TFLOP");
  CHECK(work.x.logarithmic);
  CHECK(work.series[1].x.front() == doctest::Approx(6.15));
  CHECK(work.series[1].x.back() == doctest::Approx(49.2));
  CHECK(work.series[1].estimates.back().value == curve.estimates.back().value);

  const Series& final_error = chart_named(charts, "final_error").series.at(1);
  CHECK(final_error.estimates.at(0).value == doctest::Approx(3.0));
  REQUIRE(final_error.singles.size() == 4);
  CHECK(final_error.singles[2] == doctest::Approx(100.0 * hard.errors[2]));

  const Series& on_target = chart_named(charts, "on_target_by_glimpse").series.at(1);
  CHECK(on_target.x == std::vector<double>{1.0, 2.0, 3.0, 4.0});
  CHECK(on_target.estimates[1].value == doctest::Approx(57.0));

  const ChartMatrix& confusion = chart_named(charts, "confusion_2").matrix;
  CHECK(confusion.values[3] == doctest::Approx(2.0));
  CHECK(confusion.names == comparison.class_names);
  CHECK(chart_named(charts, "looks_2").matrix.values == hard.look_map.exposure);
  CHECK(chart_named(charts, "looks_1").matrix.high == chart_named(charts, "looks_2").matrix.high);
}

TEST_CASE("a chart of stopping has the curve, always as many looks, and the oracle") {
  const Comparison comparison = two_variants();
  const std::vector<Chart> charts = charts_of(comparison);
  const Chart& hard = chart_named(charts, "stopping_2");
  const Stopping& stopping = *comparison.variants[1].stopping;
  REQUIRE(hard.series.size() == 3);
  CHECK(hard.series[0].x == std::vector{1.0, 1.5, 4.0});
  CHECK(hard.series[0].variant == 1);  // its colour in the other charts
  CHECK(hard.series[0].estimates[1].value == doctest::Approx(3.3));
  CHECK(hard.series[0].estimates[1].low == doctest::Approx(3.0));
  CHECK(hard.series[1].x == std::vector{1.0, 2.0, 3.0, 4.0});
  CHECK(hard.series[1].estimates[3].value ==
        doctest::Approx(100.0 * stopping.always[3].error.value));
  CHECK(hard.series[2].x == std::vector{1.2});
  CHECK(hard.series[2].estimates[0].value == doctest::Approx(1.5));
  CHECK(contains(hard.text, "3.30 % at 1.50 looks with the thresholds 0.9, 0.9"));
  CHECK(!contains(hard.text, "over scenes"));

  const Chart& both = chart_named(charts, "error_by_looks");
  REQUIRE(both.series.size() == 2);
  CHECK(both.series[1].x == hard.series[0].x);

  const std::vector<Chart> one = charts_of(made_comparison({made_variant("one", 0.03, 1, 4)}));
  CHECK(contains(chart_named(one, "stopping_1").text, "with the interval over scenes"));
  CHECK(std::ranges::count(ids_of(one), "error_by_looks") == 0);
}

TEST_CASE("every value of a chart is within its axes") {
  for (const Chart& chart : charts_of(two_variants()))
    for (const Series& series : chart.series)
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        const bool rows = chart.kind == ChartKind::rows;
        const Axis& along = rows ? chart.y : chart.x;
        const Axis& values = rows ? chart.x : chart.y;
        CHECK(series.x[i] >= along.low);
        CHECK(series.x[i] <= along.high);
        CHECK(series.estimates[i].low >= values.low);
        CHECK(series.estimates[i].high <= values.high);
      }
}

TEST_CASE("a chart without data is left out") {
  CHECK(charts_of({}).empty());
  Variant bare = made_variant("bare", 0.04, 3, 1);
  bare.curve.clear();
  bare.confusion = {};
  bare.look_map = {};
  CHECK(ids_of(charts_of(made_comparison({bare}))) == Names{"final_error"});
  bare.curve = {{.episodes = 100.0, .seconds = 0.0, .error = {0.5, 0.5, 0.5, false}}};
  CHECK(ids_of(charts_of(made_comparison({bare}))) == Names{"final_error", "learning_episodes"});
}

TEST_CASE("variants of unknown cost are not drawn over cost") {
  Comparison comparison =
      made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("hard", 0.03, 4, 4),
                       made_variant("old", 0.04, 3, 4)});
  set_gflop(comparison.variants[0], 0.005);
  set_gflop(comparison.variants[2], 0.0);         // as for an old run
  comparison.variants[0].curve[0].seconds = 0.2;  // shorter than the axis can show
  const std::vector<Chart> charts = charts_of(comparison);
  CHECK(chart_named(charts, "cost_seconds").series[0].x.size() == 7);
  const Chart& work = chart_named(charts, "cost_gflop");
  REQUIRE(work.series.size() == 2);
  CHECK(work.series[1].variant == 1);
}

TEST_CASE("a curve that only rescales the axis is drawn once") {
  const auto costs = [](const Comparison& comparison) {
    Names ids = ids_of(charts_of(comparison));
    std::erase_if(ids, [](const std::string& id) { return !id.starts_with("cost_"); });
    return ids;
  };
  // An episode of hard takes 1.5 times as long as one of soft.
  Comparison comparison = two_variants();
  CHECK(costs(comparison) == Names{"cost_seconds"});
  CHECK(contains(chart_of(comparison, "cost_seconds").text,
                 "An episode of hard takes 1.5 times the time of one of soft."));
  set_gflop(comparison.variants[1], 1.5 * 0.0123);
  CHECK(costs(comparison) == Names{"cost_gflop"});  // time is proportional to it
  set_gflop(comparison.variants[1], 3.0 * 0.0123);
  CHECK(costs(comparison) == Names{"cost_gflop", "cost_seconds"});
  for (Variant& variant : comparison.variants) {
    set_gflop(variant, 0.0123);
    for (CurvePoint& point : variant.curve) point.seconds = 1e-3 * point.episodes;
  }
  CHECK(costs(comparison).empty());
  for (CurvePoint& point : comparison.variants[1].curve) point.seconds *= 1.15;
  CHECK(costs(comparison).empty());  // a difference this small may be noise of the machine
  CHECK(costs(made_comparison({made_variant("lone", 0.02, 5, 4)})).empty());
}

TEST_CASE("an axis of times runs between round times") {
  const Axis short_ones = clock_axis("time", 4.0, 45.0);
  CHECK(short_ones.title == "time, m:ss");
  CHECK(labels_of(short_ones) == Names{"0:02", "0:05", "0:10", "0:20", "0:30", "1:00"});
  const Axis long_ones = clock_axis("time", 1900.0, 40'000.0);
  CHECK(long_ones.title == "time, h:mm:ss");
  CHECK(labels_of(long_ones) ==
        Names{"30:00", "1:00:00", "2:00:00", "5:00:00", "10:00:00", "20:00:00"});
  for (const double only : {1.0, 60.0, 1800.0, 18'000.0, 1e6}) {
    const Axis axis = clock_axis("time", only, only);
    CHECK(axis.low <= only);
    CHECK(axis.high > only);
    CHECK(axis.ticks.size() > 1);
  }
  CHECK(told_on(long_ones, 3723.4) == "1:02:03");
  CHECK(told_with_unit(long_ones, 3723.4) == "1:02:03");
  CHECK(told_with_unit(linear_axis("episodes", 0, 10), 2.5) == "2.5 episodes");
}

TEST_CASE("a variant that reads the whole canvas has no looks to draw") {
  Comparison comparison = two_variants();
  comparison.variants[0].looks = false;
  const std::vector<Chart> charts = charts_of(comparison);
  const Names ids = ids_of(charts);
  CHECK(std::ranges::count(ids, "looks_1") == 0);
  CHECK(std::ranges::count(ids, "looks_2") == 1);
  CHECK(chart_named(charts, "on_target_by_glimpse").series.size() == 1);
  CHECK(chart_named(charts, "on_target_by_glimpse").series[0].variant == 1);
}

TEST_CASE("variants that differ only in the number of glimpses make one line over it") {
  std::vector<Variant> variants;
  for (const auto& [kind, glimpses] : std::vector<std::pair<std::string, int>>{
           {"soft", 8}, {"hard", 2}, {"soft", 2}, {"soft", 4}}) {
    variants.push_back(made_variant(kind + std::to_string(glimpses), 0.1 / glimpses, 3, glimpses));
    variants.back().settings = {kind, std::to_string(glimpses)};
  }
  Comparison comparison = made_comparison(variants);
  comparison.differing = {"attention.glimpse.kind", "attention.glimpse.num_glimpses"};
  const Chart chart = chart_of(comparison, "error_by_num_glimpses");
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].name == "soft");
  CHECK(chart.series[0].x == std::vector<double>{2.0, 4.0, 8.0});
  CHECK(chart.series[0].estimates[0].value == doctest::Approx(5.0));
  CHECK(chart.series[0].estimates[2].value == doctest::Approx(1.25));
  CHECK(chart.series[1].name == "hard2");
  CHECK(chart.series[1].x == std::vector<double>{2.0});
}

TEST_CASE("the final error of one seed has the interval over scenes, and its axis says so") {
  const Chart lone = chart_of(
      made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("lone", 0.03, 1, 4)}),
      "final_error");
  CHECK(lone.x.title == "error, % (one seed: interval over scenes)");
  CHECK(lone.series.at(0).estimates.at(0).low == doctest::Approx(1.8));
  CHECK(lone.series.at(1).estimates.at(0).low == doctest::Approx(2.9));
  CHECK(lone.series.at(1).estimates.at(0).high == doctest::Approx(3.1));
  CHECK(chart_of(made_comparison({made_variant("soft", 0.02, 5, 4)}), "final_error").x.title ==
        "error, %");
}

TEST_CASE("the text of a chart is made from its numbers") {
  const std::vector<Chart> charts = charts_of(
      made_comparison({made_variant("soft", 0.02, 5, 4), made_variant("lone", 0.03, 1, 4)}));
  const std::string& words = chart_named(charts, "final_error").text;
  check_contains(words, {"soft: 2.00 % (95 % interval 1.80 to 2.20)",
                         "lone: 3.00 % (one seed; 95 % interval over scenes 2.90 to 3.10)"});
  CHECK(contains(chart_named(charts, "error_by_glimpse").text, "(one seed) at 4 glimpses"));
  CHECK(contains(chart_named(charts, "learning_episodes").text, "at 4 million episodes"));
  CHECK(contains(chart_named(charts, "confusion_1").text,
                 "most often one is taken for two, in 3.00 % of its scenes"));
  CHECK(contains(chart_named(charts, "looks_1").text, "8 x 6 pixels: most at pixel (7, 2)"));
}

}  // namespace
}  // namespace saccade
