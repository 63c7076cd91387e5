#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "experiments/comparison/controls.h"
#include "experiments/comparison/tables.h"
#include "experiments/comparison/verdict.h"
#include "experiments/files/metrics.h"
#include "experiments/runs/other_scenes.h"

namespace saccade {
namespace {

using Figure = std::pair<Metric, std::optional<double>>;

void add(std::vector<Figure>& figures, Metric metric, const std::optional<Estimate>& e) {
  const bool known = e && e->known;
  figures.emplace_back(metric, e ? std::optional(e->value) : std::nullopt);
  figures.emplace_back(metric.low(), known ? std::optional(e->low) : std::nullopt);
  figures.emplace_back(metric.high(), known ? std::optional(e->high) : std::nullopt);
}

std::vector<Figure> figures_of(const Variant& v) {
  std::vector<Figure> figures;
  const auto put = [&](Metric metric, std::optional<double> value) {
    figures.emplace_back(metric, value);
  };
  put("seeds", static_cast<double>(v.seeds.size()));
  put("failing_seeds", static_cast<double>(failing_seeds(v).size()));
  add(figures, "test/error", v.mean);
  add(figures, "test/error_iqm", v.interquartile_mean);
  add(figures, "difference", v.difference);
  add(figures, "improvement_probability", v.improvement);
  for (const Metric control : kControls) add(figures, control, control_error(v, control));
  add(figures, "attention/on_target", v.looks ? std::optional(v.on_target) : std::nullopt);
  const auto stopped = [&](Estimate StopEstimate::*estimate) {
    return v.stopping ? std::optional(v.stopping->stopped.*estimate) : std::nullopt;
  };
  add(figures, "test/stopped_error", stopped(&StopEstimate::error));
  add(figures, "test/looks", stopped(&StopEstimate::looks));
  put("episodes", v.episodes);
  const auto positive = [](double value) {
    return value > 0.0 ? std::optional(value) : std::nullopt;
  };
  put("episode/gflop", positive(v.gflop_per_episode));
  put("episode/canvas_pixels", positive(v.canvas_pixels));
  put("time/elapsed", v.seconds);
  return figures;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// "0.001: 0.041; 0.002: 0.032": validation errors.
std::string tries_cell(const Variant& v) {
  std::vector<std::string> tries;
  for (const Try& one : v.tries)
    tries.push_back(fmt::format("{}: {}", fmt::join(one.values, ", "), one.valid_error.value));
  return fmt::format("{}", fmt::join(tries, "; "));
}

using Json = nlohmann::ordered_json;

Json tries_json(const Comparison& comparison, const Variant& v) {
  Json tries = Json::array();
  for (const Try& one : v.tries) {
    std::vector<Figure> figures;
    add(figures, "valid/error", one.valid_error);
    Json document{{"chosen", one.chosen}, {"seed", v.tuning_seeds}};
    for (const auto& [metric, value] : figures)
      document[metric.name()] = value ? Json(*value) : Json();
    for (std::size_t k = 0; k < comparison.tuned_by.size(); ++k)
      document["settings"][comparison.tuned_by[k]] = one.values[k];
    document["folders"] = Json::array();
    for (const auto& folder : one.folders) document["folders"].push_back(folder.string());
    tries.push_back(std::move(document));
  }
  return tries;
}

// The interval of a run's test is over scenes.
Json runs_json(const Variant& v) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < v.errors_over_scenes.size(); ++i) {
    std::vector<Figure> figures;
    add(figures, "test/error", v.errors_over_scenes[i]);
    Json& run = runs.emplace_back(Json{{"seed", v.seeds[i]}});
    for (const auto& [metric, value] : figures) run[metric.name()] = value ? Json(*value) : Json();
  }
  return runs;
}

Json stopping_json(const Stopping& stopping) {
  const auto points = [](std::span<const StopEstimate> estimates) {
    Json document{{"error", Json::array()},      {"error_low", Json::array()},
                  {"error_high", Json::array()}, {"looks", Json::array()},
                  {"looks_low", Json::array()},  {"looks_high", Json::array()}};
    const auto put = [&](const std::string& key, const Estimate& e) {
      document[key].push_back(e.value);
      document[key + "_low"].push_back(e.known ? Json(e.low) : Json());
      document[key + "_high"].push_back(e.known ? Json(e.high) : Json());
    };
    for (const StopEstimate& estimate : estimates) {
      put("error", estimate.error);
      put("looks", estimate.looks);
    }
    return document;
  };
  return {{"over_scenes", stopping.over_scenes}, {"thresholds", stopping.thresholds},
          {"chosen", stopping.chosen},           {"test", points(stopping.curve)},
          {"always", points(stopping.always)},   {"oracle", points({&stopping.oracle, 1})}};
}

}  // namespace

std::string to_csv(const Comparison& comparison) {
  std::vector<std::string> header = {"variant"};
  for (const auto& [metric, value] : figures_of(comparison.variants[0]))
    header.push_back(metric.name());
  for (const std::string& key : comparison.differing) header.push_back(key);
  for (const std::string& key : comparison.tuned_by) header.push_back(key);
  if (!comparison.tuned_by.empty()) header.push_back("tried");
  std::string text = fmt::format("{}\n", fmt::join(header, ","));
  for (const Variant& v : comparison.variants) {
    std::vector<std::string> row = {csv_cell(v.label)};
    for (const auto& [metric, value] : figures_of(v))
      row.push_back(value ? fmt::format("{}", *value) : std::string());
    for (const std::string& setting : v.settings) row.push_back(csv_cell(setting));
    if (!v.tries.empty()) {
      for (const std::string& value : chosen_try(v).values) row.push_back(csv_cell(value));
      row.push_back(csv_cell(tries_cell(v)));
    }
    text += fmt::format("{}\n", fmt::join(row, ","));
  }
  return text;
}

nlohmann::ordered_json to_json(const Comparison& comparison) {
  Json document{{"scenes", comparison.scenes}, {"resamples", comparison.resamples}};
  document["verdict"] = verdict(comparison);
  document["variants"] = Json::array();
  for (const Variant& v : comparison.variants) {
    Json variant{{"variant", v.label}};
    for (const auto& [metric, value] : figures_of(v))
      variant[metric.name()] = value ? Json(*value) : Json();
    variant["seed"] = v.seeds;
    variant["errors"] = v.errors;
    variant["runs"] = runs_json(v);
    if (v.stopping) variant[Metric("test/stopping").name()] = stopping_json(*v.stopping);
    if (!v.from_training.empty())
      variant[Metric("test/other_scenes").name()] = to_json(v.from_training);
    variant["not_clearly_better_than"] = Json::array();
    for (const Control& control : v.controls)
      if (!control.beaten) variant["not_clearly_better_than"].push_back(control.metric.name());
    variant["folders"] = Json::array();
    for (const auto& folder : v.folders) variant["folders"].push_back(folder.string());
    for (std::size_t k = 0; k < comparison.differing.size(); ++k)
      variant["settings"][comparison.differing[k]] = v.settings[k];
    if (!v.tries.empty()) variant["tries"] = tries_json(comparison, v);
    document["variants"].push_back(std::move(variant));
  }
  document["left_out"] = Json::array();
  for (const LeftOut& out : comparison.left_out)
    document["left_out"].push_back({{"folder", out.folder.string()}, {"reason", out.reason}});
  if (!comparison.tuned_by.empty()) document["tuned_by"] = comparison.tuned_by;
  document["commands"] = comparison.commands;
  return document;
}

}  // namespace saccade
