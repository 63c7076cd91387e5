#include "experiments/watch/live_charts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/comparison/chart_axes.h"

namespace saccade {
namespace {

constexpr std::size_t kMostPoints = 500;  // of a curve: as many as are drawn apart

struct LiveMetric {
  Metric metric;
  const char* title;
  const char* axis;    // the unit
  double scale = 1.0;  // of a number of that unit
};

const std::vector<LiveMetric>& live_metrics() {
  static const std::vector<LiveMetric> all = {
      {"valid/error", "Error on the validation scenes", "error, %", kPercent},
      {"train/error", "Error in training", "error, %", kPercent},
      {"attention/on_target", "Looks on the digit", "looks, %", kPercent},
      {"train/loss", "Loss in training", "loss"},
      {"attention/entropy", "Entropy of what places the looks", "nats"},
      {"time/episodes_per_second", "Speed of training", "episodes per second"}};
  return all;
}

bool is_error(Metric metric) { return metric.name().ends_with("/error"); }

// A number that an axis can hold: nothing keeps other programs from writing the file.
std::optional<double> number_at(const MetricsRow& row, Metric metric) {
  constexpr double kMost = 1e15;
  const auto found = row.find(metric);
  if (found == row.end() || !(std::abs(found->second) < kMost)) return std::nullopt;
  return found->second;
}

Series curve_of(const WatchedRun& run, int number, const LiveMetric& live) {
  Series curve{.name = run.name, .variant = number};
  for (const MetricsRow& row : run.rows) {
    const auto episodes = number_at(row, "episodes"), value = number_at(row, live.metric);
    if (!episodes || !value || *episodes < 0.0) continue;
    const double shown = live.scale * *value;
    curve.x.push_back(*episodes);
    curve.estimates.push_back({shown, shown, shown, /*known=*/false});
  }
  return curve;
}

// Keeps the last point and every n-th before it.
void thin_out(Series& curve) {
  const std::size_t every = (curve.x.size() + kMostPoints - 1) / kMostPoints;
  if (every <= 1) return;
  std::size_t kept = 0;
  for (std::size_t i = (curve.x.size() - 1) % every; i < curve.x.size(); i += every, ++kept) {
    curve.x[kept] = curve.x[i];
    curve.estimates[kept] = curve.estimates[i];
  }
  curve.x.resize(kept);
  curve.estimates.resize(kept);
}

Axis axis_of(const LiveMetric& live, const std::vector<Series>& series) {
  if (is_error(live.metric)) return error_axis(series);
  const Limits range = range_of_estimates(series);
  return linear_axis(live.axis, std::min(0.0, range.low), range.high);
}

std::string words_of(const Chart& chart) {
  std::vector<std::string> curves;
  for (const Series& one : chart.series)
    curves.push_back(fmt::format("{}: {} at {}", one.name, short_number(one.estimates.back().value),
                                 told_with_unit(chart.x, one.x.back())));
  return fmt::format("{}. {}.", chart.title, fmt::join(curves, "; "));
}

}  // namespace

std::vector<Chart> live_charts(std::span<const WatchedRun* const> runs) {
  std::vector<Chart> charts;
  for (const LiveMetric& live : live_metrics()) {
    std::vector<Series> series;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      Series curve = curve_of(*runs[i], static_cast<int>(i), live);
      if (curve.x.empty()) continue;
      thin_out(curve);
      series.push_back(std::move(curve));
    }
    if (series.empty()) continue;
    const double most = range_of_x(series).high;
    const Unit unit = episode_unit(most);
    for (Series& one : series)
      for (double& x : one.x) x /= unit.size;
    std::string id = live.metric.name();
    std::ranges::replace(id, '/', '_');
    Chart chart{.id = id,
                .title = live.title,
                .kind = ChartKind::lines,
                .x = linear_axis(unit.name, 0.0, most / unit.size),
                .y = axis_of(live, series),
                .series = std::move(series)};
    chart.text = words_of(chart);
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace saccade
