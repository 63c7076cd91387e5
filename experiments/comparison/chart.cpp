#include "experiments/comparison/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace saccade {
namespace {

// Returns the shortest text that distinguishes a number from its neighbours `step` away.
std::string tick_label(double value, double step) {
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  return fmt::format("{:.{}f}", value, decimals);
}

// Returns the largest 1, 2 or 5 times a power of ten that is at most `value`.
double round_below(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0})
    if (factor * power <= value * (1.0 + 1e-9)) return factor * power;
  return power;
}

double round_above(double value) {
  const double below = round_below(value);
  if (below >= value * (1.0 - 1e-9)) return below;
  const double power = std::pow(10.0, std::floor(std::log10(below) + 1e-9));
  return below < 1.5 * power ? 2.0 * power : below < 3.0 * power ? 5.0 * power : 10.0 * power;
}

}  // namespace

Axis linear_axis(const std::string& title, double low, double high, int count) {
  const double least = 1e-9 * std::max(std::abs(low), std::abs(high));
  if (high - low <= least) {  // a single value: add some room around it
    const double room = low == 0.0 ? 1.0 : std::abs(low) * 0.1;
    low -= room;
    high += room;
  }
  const double step = round_above((high - low) / count);
  const auto first = static_cast<int>(std::floor(low / step + 1e-9));
  const auto last = static_cast<int>(std::ceil(high / step - 1e-9));
  Axis axis{.title = title, .low = first * step, .high = last * step};
  for (int i = first; i <= last; ++i) axis.ticks.push_back({i * step, tick_label(i * step, step)});
  return axis;
}

Axis logarithmic_axis(const std::string& title, double low, double high) {
  Axis axis{
      .title = title, .low = round_below(low), .high = round_above(high), .logarithmic = true};
  if (axis.high <= axis.low) axis.high = round_above(axis.low * 1.1);
  for (double value = axis.low; value <= axis.high * (1.0 + 1e-9); value = round_above(value * 1.1))
    axis.ticks.push_back({value, tick_label(value, std::min(1.0, value))});
  return axis;
}

Axis clock_axis(const std::string& name, double low, double high) {
  std::vector<double> round = {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800};
  for (double hour = 3600.0; round.back() <= high; hour *= 10.0)
    for (const double factor : {1.0, 2.0, 5.0}) round.push_back(factor * hour);
  const auto at_most = std::ranges::upper_bound(round, low) - 1;
  auto at_least = std::ranges::lower_bound(round, high);
  if (at_least == at_most) ++at_least;
  Axis axis{.title = fmt::format("{}, {}", name, *at_least >= 3600.0 ? "h:mm:ss" : "m:ss"),
            .low = *at_most,
            .high = *at_least,
            .logarithmic = true,
            .clock = true};
  for (auto tick = at_most; tick <= at_least; ++tick)
    axis.ticks.push_back({*tick, clock_time(*tick)});
  return axis;
}

std::string told_on(const Axis& axis, double value) {
  return axis.clock && std::isfinite(value) ? clock_time(value) : short_number(value, 4);
}

std::string told_with_unit(const Axis& axis, double value) {
  return axis.clock ? told_on(axis, value) : fmt::format("{} {}", told_on(axis, value), axis.title);
}

bool is_matrix(const Chart& chart) {
  return chart.kind == ChartKind::confusion || chart.kind == ChartKind::heat_map;
}

std::string short_number(double value, int digits) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return "";
  if (size == 0.0) return "0";
  const int decimals =
      std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(size))), 0, 9);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string short_number(double value) { return short_number(value, 3); }

}  // namespace saccade
