#include "experiments/comparison/chart_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.7g}", value));
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json axis_json(const Axis& axis) {
  Json ticks = Json::array();
  for (const Tick& tick : axis.ticks)
    ticks.push_back({{"value", number(tick.value)}, {"label", tick.label}});
  return {{"title", axis.title},
          {"low", number(axis.low)},
          {"high", number(axis.high)},
          {"logarithmic", axis.logarithmic},
          {"ticks", ticks}};
}

// Chart.js' names of the markers.
const char* marker_name(Marker marker) {
  constexpr std::array<const char*, 5> names = {"circle", "rect", "triangle", "rectRot",
                                                "crossRot"};
  return names[static_cast<std::size_t>(marker)];
}

Json series_json(const Series& series) {
  Json estimates = Json::array();
  for (const Estimate& estimate : series.estimates)
    estimates.push_back({{"value", number(estimate.value)},
                         {"low", number(estimate.low)},
                         {"high", number(estimate.high)},
                         {"known", estimate.known}});
  const ChartStyle style = chart_style(series.variant);
  return {{"name", series.name},
          {"colour", css_colour(style.colour)},
          {"marker", marker_name(style.marker)},
          {"x", numbers(series.x)},
          {"estimates", estimates},
          {"singles", numbers(series.singles)}};
}

Json chart_json(const Chart& chart) {
  constexpr std::array<const char*, 5> kinds = {"lines", "points", "rows", "confusion", "heat_map"};
  Json json = {{"id", chart.id},          {"title", chart.title},
               {"text", chart.text},      {"kind", kinds[static_cast<std::size_t>(chart.kind)]},
               {"x", axis_json(chart.x)}, {"y", axis_json(chart.y)}};
  json["series"] = Json::array();
  std::ranges::transform(chart.series, std::back_inserter(json["series"]), series_json);
  const ChartMatrix& matrix = chart.matrix;
  if (matrix.rows > 0)
    json["matrix"] = {{"rows", matrix.rows},
                      {"cols", matrix.cols},
                      {"values", numbers(matrix.values)},
                      {"high", number(matrix.high)},
                      {"names", matrix.names}};
  return json;
}

}  // namespace

std::string css_colour(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string charts_json(const std::vector<Chart>& charts) {
  Json json = {{"charts", Json::array()}, {"heat_colours", Json::array()}};
  std::ranges::transform(charts, std::back_inserter(json["charts"]), chart_json);
  std::ranges::transform(heat_colours(), std::back_inserter(json["heat_colours"]), css_colour);
  // Names may hold bytes that are no UTF-8 (paths do) and tags.
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

}  // namespace saccade
