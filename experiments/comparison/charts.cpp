#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <span>

#include "base/check.h"
#include "experiments/comparison/chart.h"
#include "experiments/comparison/chart_axes.h"
#include "experiments/comparison/matrix_charts.h"

namespace saccade {
namespace {

constexpr int kDescribed = 4;  // up to this many series are described one by one

Estimate in_percent(const Estimate& share) {
  return {share.value * kPercent, share.low * kPercent, share.high * kPercent, share.known};
}

// ---- Text ----

std::string percent(const Estimate& estimate) {
  const std::string value = fmt::format("{:.2f} %", estimate.value);
  if (!estimate.known) return value + " (one seed)";
  return fmt::format("{} (95 % interval {:.2f} to {:.2f})", value, estimate.low, estimate.high);
}

/// Applies `sentence` to each series, or only to those that end lowest and highest if there are
/// many.
std::string of_each(const std::vector<Series>& series,
                    const std::function<std::string(const Series&)>& sentence) {
  if (series.size() <= kDescribed) {
    std::vector<std::string> sentences;
    std::ranges::transform(series, std::back_inserter(sentences), sentence);
    return fmt::format("{}.", fmt::join(sentences, "; "));
  }
  const auto [low, high] = std::ranges::minmax_element(
      series, {}, [](const Series& one) { return one.estimates.back().value; });
  return fmt::format("Of {} the lowest is {}; the highest is {}.", series.size(), sentence(*low),
                     sentence(*high));
}

std::string first_and_last(const Series& series, const Axis& axis, const std::string& unit = "") {
  if (series.x.size() == 1)
    return fmt::format("{}: {}", series.name, percent(series.estimates.front()));
  return fmt::format(
      "{}: from {:.2f} % at {} to {} at {}{}", series.name, series.estimates.front().value,
      told_on(axis, series.x.front()), percent(series.estimates.back()),
      unit.empty() ? told_with_unit(axis, series.x.back()) : told_on(axis, series.x.back()), unit);
}

// ---- Charts ----

/// A measure of training progress.
struct Measure {
  const char* id;
  const char* title;
  double CurvePoint::*value;
  double least;  // smallest value that can be drawn
};
constexpr Measure kEpisodes{"learning_episodes", "Learning: validation error against episodes",
                            &CurvePoint::episodes, 0.0};
constexpr Measure kWork{"cost_gflop", "Cost: validation error against arithmetic",
                        &CurvePoint::gflop, 1e-9};
constexpr Measure kTime{"cost_seconds", "Cost: validation error against training time",
                        &CurvePoint::seconds, 1.0};

double most_of(const Comparison& comparison, const Measure& measure) {
  double most = 0.0;
  for (const Variant& variant : comparison.variants)
    for (const CurvePoint& point : variant.curve) most = std::max(most, point.*measure.value);
  return most;
}

std::vector<Series> curves(const Comparison& comparison, const Measure& measure, double unit) {
  std::vector<Series> series;
  for (int v = 0; v < static_cast<int>(comparison.variants.size()); ++v) {
    Series one{.name = comparison.variants[v].label, .variant = v};
    const Variant& variant = comparison.variants[v];
    if (variant.run_curves.size() > 1) one.runs.resize(variant.run_curves.size());
    for (std::size_t i = 0; i < variant.curve.size(); ++i) {
      const CurvePoint& point = variant.curve[i];
      if (point.*measure.value < measure.least) continue;
      one.x.push_back(point.*measure.value / unit);
      one.estimates.push_back(in_percent(point.error));
      for (std::size_t run = 0; run < one.runs.size(); ++run)
        one.runs[run].push_back(variant.run_curves[run][i] * kPercent);
    }
    if (!one.x.empty()) series.push_back(std::move(one));
  }
  return series;
}

/// Returns what a variant has spent in total by `measure` per unit of `other`; 0 if unknown.
double price(const Variant& variant, const Measure& measure, const Measure& other) {
  if (variant.curve.empty()) return 0.0;
  const CurvePoint& last = variant.curve.back();
  const double spent = last.*measure.value, per = last.*other.value;
  return spent >= measure.least && per >= other.least && per > 0.0 ? spent / per : 0.0;
}

/// The variants with the lowest and highest price, among those where it is known.
struct Prices {
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  const Variant *cheapest = nullptr, *dearest = nullptr;

  bool differ() const { return high > 1.2 * low; }
};

Prices prices(const Comparison& comparison, const Measure& measure, const Measure& other) {
  Prices prices;
  for (const Variant& variant : comparison.variants) {
    const double here = price(variant, measure, other);
    if (here <= 0.0) continue;
    if (here < prices.low) prices.low = here, prices.cheapest = &variant;
    if (here > prices.high) prices.high = here, prices.dearest = &variant;
  }
  return prices;
}

void add_curves(const Comparison& comparison, const Measure& measure, const Unit& unit,
                const std::function<Axis(const Limits&)>& axis_of, const std::string& about,
                std::vector<Chart>& charts) {
  const std::vector<Series> series = curves(comparison, measure, unit.size);
  const Limits range = range_of_x(series);
  if (range.high <= 0.0) return;
  const Axis axis = axis_of(range);
  const auto described = [&](const Series& one) { return first_and_last(one, axis); };
  const bool shows_runs =
      std::ranges::any_of(series, [](const Series& one) { return !one.runs.empty(); });
  charts.push_back({.id = measure.id,
                    .title = measure.title,
                    .text = fmt::format("{}. {}{}{}", measure.title,
                                        shows_runs ? "Thin lines are single runs. " : "", about,
                                        of_each(series, described)),
                    .kind = ChartKind::lines,
                    .x = axis,
                    .y = error_axis(series),
                    .series = series});
}

void add_learning(const Comparison& comparison, std::vector<Chart>& charts) {
  const Unit unit = episode_unit(most_of(comparison, kEpisodes));
  const auto axis = [&](const Limits& range) { return linear_axis(unit.name, 0.0, range.high); };
  add_curves(comparison, kEpisodes, unit, axis, "", charts);
}

/// Describes what the curves over episodes do not show.
std::string of_prices(const Prices& prices, const char* cost) {
  return fmt::format("An episode of {} takes {:.2g} times the {} of one of {}. ",
                     prices.dearest->label, prices.high / prices.low, cost, prices.cheapest->label);
}

void add_costs(const Comparison& comparison, std::vector<Chart>& charts) {
  const Prices work = prices(comparison, kWork, kEpisodes),
               time = prices(comparison, kTime, kEpisodes);
  const bool draws_work = work.differ();
  if (draws_work) {
    const Unit unit = work_unit(most_of(comparison, kWork));
    const auto axis = [&](const Limits& range) {
      return logarithmic_axis(unit.name, range.low, range.high);
    };
    add_curves(comparison, kWork, unit, axis, of_prices(work, "arithmetic"), charts);
  }
  if (!time.differ() || (draws_work && !prices(comparison, kTime, kWork).differ())) return;
  const auto axis = [](const Limits& range) {
    return clock_axis("training time", range.low, range.high);
  };
  add_curves(comparison, kTime, {1.0, ""}, axis, of_prices(time, "time"), charts);
}

/// Of one seed, the interval is over scenes.
void add_final_error(const Comparison& comparison, std::vector<Chart>& charts) {
  std::vector<Series> series;
  std::string axis = "error, %";
  Axis rows{.title = "", .low = -0.5, .high = double(comparison.variants.size()) - 0.5};
  for (int v = 0; v < static_cast<int>(comparison.variants.size()); ++v) {
    const Variant& variant = comparison.variants[v];
    const std::optional<Estimate> over_scenes = error_over_scenes(variant);
    if (over_scenes) axis = "error, % (one seed: interval over scenes)";
    Series& one =
        series.emplace_back(Series{.name = variant.label,
                                   .variant = v,
                                   .x = {double(v)},
                                   .estimates = {in_percent(over_scenes.value_or(variant.mean))}});
    for (const double error : variant.errors) one.singles.push_back(error * kPercent);
    rows.ticks.push_back({double(v), variant.label});
  }
  if (series.empty()) return;
  const Limits range = range_of_estimates(series);
  const double base = range.low < 0.5 * range.high ? 0.0 : range.low;
  const auto described = [&](const Series& one) {
    const Estimate& error = one.estimates.front();
    if (!error_over_scenes(comparison.variants[one.variant]))
      return fmt::format("{}: {}", one.name, percent(error));
    return fmt::format("{}: {:.2f} % (one seed; 95 % interval over scenes {:.2f} to {:.2f})",
                       one.name, error.value, error.low, error.high);
  };
  charts.push_back(
      {.id = "final_error",
       .title = "Final error on the test scenes",
       .text = "Final error on the test scenes, mean over seeds. " + of_each(series, described),
       .kind = ChartKind::rows,
       .x = linear_axis(axis, base, range.high),
       .y = rows,
       .series = series,
       .matrix = {}});
}

/// Adds estimates after each glimpse for the variants that have them. Skipped if there is only one
/// glimpse.
void add_by_glimpse(const Comparison& comparison, const std::string& id, const std::string& title,
                    std::vector<Estimate> Variant::*estimates, bool shares,
                    std::vector<Chart>& charts) {
  std::vector<Series> series;
  for (int v = 0; v < static_cast<int>(comparison.variants.size()); ++v) {
    const Variant& variant = comparison.variants[v];
    if ((variant.*estimates).empty() || (shares && !variant.looks)) continue;
    Series& one = series.emplace_back(Series{.name = variant.label, .variant = v});
    for (const Estimate& estimate : variant.*estimates) {
      one.x.push_back(double(one.x.size() + 1));
      one.estimates.push_back(in_percent(estimate));
    }
  }
  if (series.empty() || range_of_x(series).high < 2.0) return;
  const Axis axis = glimpse_axis(shares ? "glimpse" : "glimpses taken", series);
  const auto described = [&](const Series& one) { return first_and_last(one, axis, " glimpses"); };
  charts.push_back(
      {.id = id,
       .title = title,
       .text = title + ". " + of_each(series, described),
       .kind = ChartKind::lines,
       .x = axis,
       .y = shares ? linear_axis("looks on the digit, %", 0.0, range_of_estimates(series).high)
                   : error_axis(series),
       .series = series,
       .matrix = {}});
}

/// Groups variants that differ only in the number of glimpses into one series.
std::vector<Series> series_by_num_glimpses(const Comparison& comparison) {
  std::vector<Series> series;
  std::map<std::vector<std::string>, std::size_t> places;  // other settings -> series
  for (int v = 0; v < static_cast<int>(comparison.variants.size()); ++v) {
    const Variant& variant = comparison.variants[v];
    if (!variant.looks) continue;
    std::vector<std::string> others;
    for (std::size_t i = 0; i < variant.settings.size(); ++i)
      if (!comparison.differing[i].ends_with("num_glimpses")) others.push_back(variant.settings[i]);
    const auto [place, is_new] = places.emplace(others, series.size());
    if (is_new) {
      series.push_back({.name = variant.label, .variant = v});
    } else {
      series[place->second].name =
          others.empty() ? "all variants" : fmt::format("{}", fmt::join(others, ", "));
    }
    series[place->second].x.push_back(variant.num_glimpses);
    series[place->second].estimates.push_back(in_percent(variant.mean));
  }
  for (Series& one : series) {
    std::vector<std::pair<double, Estimate>> pairs;
    for (std::size_t i = 0; i < one.x.size(); ++i) pairs.emplace_back(one.x[i], one.estimates[i]);
    std::ranges::stable_sort(pairs, {}, [](const auto& pair) { return pair.first; });
    std::ranges::transform(pairs, one.x.begin(), [](const auto& pair) { return pair.first; });
    std::ranges::transform(pairs, one.estimates.begin(),
                           [](const auto& pair) { return pair.second; });
  }
  return series;
}

void add_by_num_glimpses(const Comparison& comparison, std::vector<Chart>& charts) {
  const std::vector<Series> series = series_by_num_glimpses(comparison);
  std::set<double> numbers;
  for (const Series& one : series) numbers.insert(one.x.begin(), one.x.end());
  if (numbers.size() < 2) return;
  const std::string title = "Final error against the number of glimpses trained with";
  const auto described = [](const Series& one) {
    return fmt::format("{}: {} with {} glimpses", one.name, percent(one.estimates.back()),
                       one.x.back());
  };
  charts.push_back({.id = "error_by_num_glimpses",
                    .title = title,
                    .text = title + ". " + of_each(series, described),
                    .kind = ChartKind::points,
                    .x = glimpse_axis("glimpses in an episode", series),
                    .y = error_axis(series),
                    .series = series});
}

// ---- Stopping when sure ----

Series stop_series(const std::string& name, int variant, std::span<const StopEstimate> points) {
  Series series{.name = name, .variant = variant};
  for (const StopEstimate& point : points) {
    series.x.push_back(point.looks.value);
    series.estimates.push_back(in_percent(point.error));
  }
  return series;
}

std::string at_looks(const Estimate& error, const Estimate& looks) {
  return fmt::format("{:.2f} % at {:.2f} looks", error.value * kPercent, looks.value);
}

std::string of_stopping(const Stopping& stopping) {
  return fmt::format(
      "{} with the threshold{} {} {}, {} if it always takes all, {} for an oracle that stops at "
      "the first right answer",
      at_looks(stopping.stopped.error, stopping.stopped.looks),
      stopping.chosen.size() > 1 ? "s" : "", fmt::join(stopping.chosen, ", "),
      stopping.own ? "of its own" : "chosen on the validation scenes",
      at_looks(stopping.always.back().error, stopping.always.back().looks),
      at_looks(stopping.oracle.error, stopping.oracle.looks));
}

Chart stop_chart(const std::string& id, const std::string& title, const std::string& text,
                 std::vector<Series> series) {
  const Axis y = error_axis(series);
  return {.id = id,
          .title = title,
          .text = text,
          .kind = ChartKind::lines,
          .x = linear_axis("mean looks", 1.0, range_of_x(series).high),
          .y = y,
          .series = std::move(series),
          .matrix = {}};
}

/// The variants beside each other, if there are several.
void add_by_looks(const Comparison& comparison, std::vector<Chart>& charts) {
  std::vector<Series> series;
  for (int v = 0; v < static_cast<int>(comparison.variants.size()); ++v)
    if (const auto& stopping = comparison.variants[v].stopping)
      series.push_back(stop_series(comparison.variants[v].label, v, stopping->curve));
  if (series.size() < 2) return;
  const std::string title = "Error against mean looks, stopping as soon as it is sure";
  const auto described = [&](const Series& one) {
    return one.name + ": " + of_stopping(*comparison.variants[one.variant].stopping);
  };
  const std::string text = title + ". " + of_each(series, described);
  charts.push_back(stop_chart("error_by_looks", title, text, std::move(series)));
}

/// Each variant beside a fixed number of looks and the oracle.
void add_stopping(const Comparison& comparison, std::vector<Chart>& charts) {
  for (int v = 0; v < static_cast<int>(comparison.variants.size()); ++v) {
    const Variant& variant = comparison.variants[v];
    if (!variant.stopping) continue;
    const Stopping& stopping = *variant.stopping;
    std::vector<Series> series = {
        stop_series("stops when sure", v, stopping.curve),
        stop_series("always as many", v + 1, stopping.always),
        stop_series("oracle: at the first right answer", v + 2, {&stopping.oracle, 1})};
    charts.push_back(
        stop_chart(fmt::format("stopping_{}", v + 1), "Stopping when sure: " + variant.label,
                   fmt::format("Error of {} against its mean looks{}. {}.", variant.label,
                               stopping.over_scenes ? ", with the interval over scenes" : "",
                               of_stopping(stopping)),
                   std::move(series)));
  }
}

}  // namespace

std::vector<Chart> charts_of(const Comparison& comparison) {
  std::vector<Chart> charts;
  add_final_error(comparison, charts);
  add_learning(comparison, charts);
  add_by_glimpse(comparison, "error_by_glimpse", "Error if it had to answer after so many glimpses",
                 &Variant::error_by_glimpse, false, charts);
  add_by_num_glimpses(comparison, charts);
  add_by_looks(comparison, charts);
  add_by_glimpse(comparison, "on_target_by_glimpse", "Share of the looks on the digit, by glimpse",
                 &Variant::on_target_by_glimpse, true, charts);
  add_costs(comparison, charts);
  add_stopping(comparison, charts);
  add_look_maps(comparison, charts);
  add_confusions(comparison, charts);
  for (const Chart& chart : charts) SACCADE_CHECK(is_chart_id(chart.id));
  return charts;
}

bool is_chart_id(const std::string& id) {
  static const std::regex kIds(
      "final_error|learning_episodes|cost_gflop|cost_seconds|error_by_glimpse|"
      "error_by_num_glimpses|error_by_looks|on_target_by_glimpse|"
      "(stopping|looks|confusion)_[1-9][0-9]*");
  return std::regex_match(id, kIds);
}

}  // namespace saccade
