#include "experiments/comparison/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/printable.h"
#include "experiments/comparison/controls.h"
#include "experiments/comparison/verdict.h"
#include "experiments/files/metrics.h"
#include "experiments/runs/other_scenes.h"

namespace saccade {
namespace {

// ---- For display ----

constexpr const char* kUnknown = "-";

// "+1.47 [+0.80, +2.40]" with {:+.2f}; without the interval if it is unknown.
std::string figure(const Estimate& e, double scale, const char* number) {
  const auto text = [&](double value) { return fmt::format(fmt::runtime(number), scale * value); };
  const std::string value = text(e.value);
  return e.known ? fmt::format("{} [{}, {}]", value, text(e.low), text(e.high)) : value;
}

// Over seeds "9.15 [8.60, 9.73]", for one seed "9.15 [8.60, 9.73 over scenes]".
std::string error_text(const Variant& v) {
  const std::optional<Estimate> e = error_over_scenes(v);
  return e ? fmt::format("{:.2f} [{:.2f}, {:.2f} over scenes]", 100 * e->value, 100 * e->low,
                         100 * e->high)
           : figure(v.mean, 100, "{:.2f}");
}

std::string known(double value, std::string text) { return value > 0.0 ? text : kUnknown; }

std::string control_text(const Variant& v, Metric control) {
  const std::optional<Estimate> error = control_error(v, control);
  return error ? fmt::format("{:.2f}", 100 * error->value) : kUnknown;
}

// "0.001", or "0.001, adam" for two keys.
std::string values_text(const Try& one) { return fmt::format("{}", fmt::join(one.values, ", ")); }

struct Column {
  const char* title;
  std::string (*text)(const Variant& variant);
  bool (*shown)(const Comparison& comparison) = nullptr;  // null: always
};

bool is_tuned(const Comparison& comparison) { return !comparison.tuned_by.empty(); }

constexpr Column kColumns[] = {
    {"variant", [](const Variant& v) { return v.label; }},
    {"tuned", [](const Variant& v) { return values_text(chosen_try(v)); }, is_tuned},
    {"seeds", [](const Variant& v) { return std::to_string(v.seeds.size()); }},
    {"fail", [](const Variant& v) { return std::to_string(failing_seeds(v).size()); }, may_fail},
    {"error %", error_text},
    {"IQM %", [](const Variant& v) { return figure(v.interquartile_mean, 100, "{:.2f}"); }},
    {"to the first",
     [](const Variant& v) {
       return v.difference ? figure(*v.difference, 100, "{:+.2f}") : kUnknown;
     }},
    {"P(better)",
     [](const Variant& v) {
       return v.improvement ? figure(*v.improvement, 1, "{:.2f}") : kUnknown;
     }},
    {"shuffled %", [](const Variant& v) { return control_text(v, "test/error_shuffled"); }},
    {"centre %", [](const Variant& v) { return control_text(v, "test/error_center"); }},
    {"random %", [](const Variant& v) { return control_text(v, "test/error_random"); }},
    {"stops %",
     [](const Variant& v) {
       return v.stopping ? figure(v.stopping->stopped.error, 100, "{:.2f}") : kUnknown;
     }},
    {"looks",
     [](const Variant& v) {
       return v.stopping ? fmt::format("{:.2f} of {}", v.stopping->stopped.looks.value,
                                       v.stopping->always.size())
                         : kUnknown;
     }},
    {"on digit %",
     [](const Variant& v) {
       return v.looks ? fmt::format("{:.1f}", 100 * v.on_target.value) : kUnknown;
     }},
    {"episodes", [](const Variant& v) { return fmt::format("{:.3g} M", v.episodes * 1e-6); }},
    {"GFLOP",
     [](const Variant& v) {
       return known(v.gflop_per_episode, fmt::format("{:.4f}", v.gflop_per_episode));
     }},
    {"pixels",
     [](const Variant& v) {
       return known(v.canvas_pixels, fmt::format("{:.0f}", v.canvas_pixels));
     }},
    {"time", [](const Variant& v) { return clock_time(v.seconds); }},
};

std::vector<Column> columns_of(const Comparison& comparison) {
  std::vector<Column> columns;
  for (const Column& column : kColumns)
    if (column.shown == nullptr || column.shown(comparison)) columns.push_back(column);
  return columns;
}

// "rnn: of 0.001 (4.10 %), 0.002 (3.20 %), by seeds 1, 2: 0.002."
std::string tried(const Variant& v) {
  std::vector<std::string> tries;
  for (const Try& one : v.tries)
    tries.push_back(
        fmt::format("{} ({} %)", values_text(one), figure(one.valid_error, 100, "{:.2f}")));
  return fmt::format("{}: of {}, by seed{} {}: {}.", v.label, fmt::join(tries, ", "),
                     v.tuning_seeds.size() > 1 ? "s" : "", fmt::join(v.tuning_seeds, ", "),
                     values_text(chosen_try(v)));
}

constexpr std::size_t kScreenColumns = 79;

// Wraps lines between words, indented by two spaces; a longer word gets its own line.
std::string wrapped(const std::string& text) {
  std::string lines, line = " ";
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > 1 && line.size() + 1 + word.size() > kScreenColumns) {
      lines += line + "\n";
      line.assign(1, ' ');
    }
    line += ' ';
    line += word;
  }
  return lines + line + "\n";
}

// Returns the title and a cell for each variant, padded to the widest, preceded by two spaces.
std::vector<std::string> cells_of(const Comparison& comparison, const Column& column) {
  std::vector<std::string> cells = {column.title};
  for (const Variant& v : comparison.variants) cells.push_back(column.text(v));
  std::size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  const bool left = column.title == kColumns[0].title;
  for (std::string& cell : cells)
    cell = left ? fmt::format("  {:<{}}", cell, width) : fmt::format("  {:>{}}", cell, width);
  return cells;
}

// Adds how each variant was tuned.
void add_tuning(const Comparison& comparison, std::vector<std::string>& lines) {
  if (comparison.tuned_by.empty()) return;
  lines.push_back(
      fmt::format("Tuned by {}: of the values tried, with their errors on the validation scenes, "
                  "the one with the least stands for a variant. The tests of the others were not "
                  "read.",
                  fmt::join(comparison.tuned_by, ", ")));
  for (const Variant& v : comparison.variants) lines.push_back(tried(v));
}

bool any_stops(const Comparison& comparison) {
  return std::ranges::any_of(comparison.variants,
                             [](const Variant& v) { return v.stopping.has_value(); });
}

// Ends in the thresholds: "(hard: 0.97, 0.98; soft: 0.99)".
std::string stopping_remark(const Comparison& comparison) {
  std::vector<std::string> thresholds;
  bool over_scenes = false, own = false;
  for (const Variant& v : comparison.variants) {
    if (!v.stopping) continue;
    own = own || v.stopping->own;
    thresholds.push_back(fmt::format("{}: {}", v.label, fmt::join(v.stopping->chosen, ", ")));
    over_scenes = over_scenes || v.stopping->over_scenes;
  }
  return fmt::format(
      "Stops: the error of an agent that stops as soon as its highest class probability is above a "
      "threshold, and its mean looks{}. Each run's threshold is {}chosen on its validation scenes "
      "({}).",
      over_scenes ? "; of one seed, the interval is over scenes" : "",
      own ? "its own, if the agent stops by itself, or " : "", fmt::join(thresholds, "; "));
}

// Explains the columns and what may be missing.
std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> lines = {
      fmt::format(
          "Test error on {} scenes, single deterministic pass, and [its 95 % interval] over "
          "seeds: Student's t.",
          comparison.scenes),
      fmt::format("IQM: interquartile mean, with the interval of rliable (Agarwal et al. 2021): "
                  "percentile bootstrap, {} resamples, stratified by variant; too narrow for a few "
                  "seeds.",
                  comparison.resamples),
      "To the first: difference of the error to the first variant, paired "
      "by seed, in points. P(better): that a run has less error than one of the first variant.",
      "Shuffled, centre, random: the error of the same weights made to look where they do in "
      "another scene, at the centre, at random.",
      "GFLOP: of a training episode. Pixels: of the canvas under the looks of an episode, at the "
      "widest scale. Time: of a run."};
  if (may_fail(comparison)) lines.push_back(failing_remark(comparison));
  if (any_stops(comparison)) lines.push_back(stopping_remark(comparison));
  add_tuning(comparison, lines);
  for (const Variant& v : comparison.variants)
    if (v.seeds.size() < 2)
      lines.push_back(fmt::format(
          "{}: one seed: {}. A difference to it may be chance.", v.label,
          error_over_scenes(v) ? "no interval over seeds, one over the scenes" : "no interval"));
  if (any_over_scenes(comparison))
    lines.push_back(
        "Over scenes: Wilson's interval, of a difference Newcombe's, which takes tests on the same "
        "scenes as independent and so is rather too wide.");
  for (const LeftOut& out : comparison.left_out)
    lines.push_back(fmt::format("left out: {}: {}", out.folder.string(), out.reason));
  return lines;
}

// ---- For programs ----

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
    tries.push_back(fmt::format("{}: {}", values_text(one), one.valid_error.value));
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

// Escapes whatever would end a cell or line or be read as HTML or code.
std::string markdown_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (std::string_view("|<>&`\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string code_line(const std::string& text) {
  std::string line = "    ";
  for (const char c : printable(text)) line += c == '\n' ? std::string("\\n") : std::string(1, c);
  return line + "\n";
}

}  // namespace

std::string to_table(const Comparison& comparison) {
  std::string text;
  for (const std::string& sentence : tested_elsewhere(comparison)) text += wrapped(sentence);
  for (const std::string& sentence : verdict(comparison)) text += wrapped(sentence);
  for (const std::string& sentence : idle_attention(comparison)) text += wrapped(sentence);
  if (!text.empty()) text += "\n";

  const std::vector<Column> columns = columns_of(comparison);
  const std::vector<std::string> names = cells_of(comparison, columns[0]);
  std::vector<std::string> lines = names;  // of the part being filled
  for (std::size_t c = 1; c < columns.size(); ++c) {
    const std::vector<std::string> cells = cells_of(comparison, columns[c]);
    if (lines != names && lines[0].size() + cells[0].size() > kScreenColumns) {
      text += fmt::format("{}\n\n", fmt::join(lines, "\n"));
      lines = names;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += cells[i];
  }
  text += fmt::format("{}\n\n", fmt::join(lines, "\n"));
  for (const std::string& remark : remarks(comparison)) text += wrapped(remark);
  return text;
}

std::string to_markdown(const Comparison& comparison) {
  std::string text, rule;
  for (const std::string& sentence : tested_elsewhere(comparison))
    text += fmt::format("{}\n\n", markdown_escaped(sentence));
  for (const std::string& sentence : verdict(comparison))
    text += fmt::format("**{}**\n\n", markdown_escaped(sentence));
  for (const std::string& sentence : idle_attention(comparison))
    text += fmt::format("**{}**\n\n", markdown_escaped(sentence));
  const std::vector<Column> columns = columns_of(comparison);
  for (const Column& column : columns) {
    text += fmt::format("| {} ", column.title);
    rule += column.title == kColumns[0].title ? "|---" : "|--:";
  }
  text += "|\n" + rule + "|\n";
  for (const Variant& v : comparison.variants) {
    for (const Column& column : columns)
      text += fmt::format("| {} ", markdown_escaped(column.text(v)));
    text += "|\n";
  }
  for (const std::string& line : remarks(comparison))
    text += fmt::format("\n- {}", markdown_escaped(line));
  text += "\n\nMade by:\n\n";
  for (const std::string& command : comparison.commands) text += code_line(command);
  return text;
}

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
