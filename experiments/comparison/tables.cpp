#include "experiments/comparison/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/clock.h"
#include "base/printable.h"
#include "experiments/comparison/controls.h"
#include "experiments/comparison/verdict.h"
#include "experiments/files/metrics.h"

namespace saccade {
namespace {

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

static_assert(kControls.size() == 3, "each control has a column here, and in saccade.comparisons");
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

}  // namespace saccade
