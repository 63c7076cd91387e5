#include "experiments/comparison/report_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "experiments/comparison/chart_numbers.h"
#include "experiments/comparison/controls.h"
#include "experiments/comparison/html.h"
#include "experiments/comparison/verdict.h"

namespace saccade {
namespace {

constexpr const char* kUnknownCell = "–";

// ---- Formatting ----

std::string percent(double share) { return fmt::format("{:.2f} %", share * 100.0); }

// Uses a typographic minus sign.
std::string fixed(double value, int decimals, bool with_plus = false) {
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  if (digits.find_first_of("123456789") == std::string::npos) return digits;
  return (value < 0.0 ? "\u2212" : with_plus ? "+" : "") + digits;
}

/// Returns a value with its interval below it, if there is one; `over` names what the interval is
/// over.
std::string with_interval(const std::string& figure, const Estimate& estimate, double factor,
                          const char* over = "") {
  if (!estimate.known) return figure;
  return fmt::format("{}<small>[{}, {}]{}</small>", figure, fixed(estimate.low * factor, 2),
                     fixed(estimate.high * factor, 2), over);
}

constexpr const char* kOverScenes = " over scenes";

std::string share_cell(const Estimate& estimate) {
  return with_interval(percent(estimate.value), estimate, 100.0);
}

std::string difference_cell(const Variant& variant) {
  const auto& over_scenes = variant.difference_over_scenes;
  const auto& difference = over_scenes ? over_scenes : variant.difference;
  if (!difference) return kUnknownCell;
  return with_interval(fixed(difference->value * 100.0, 2, true) + " points", *difference, 100.0,
                       over_scenes ? kOverScenes : "");
}

/// The interval is over seeds, or for a single seed over scenes.
std::string error_cell(const Variant& variant) {
  const std::optional<Estimate> over_scenes = error_over_scenes(variant);
  return over_scenes ? with_interval(percent(variant.mean.value), *over_scenes, 100.0, kOverScenes)
                     : share_cell(variant.mean);
}

std::string improvement_cell(const std::optional<Estimate>& improvement) {
  if (!improvement) return kUnknownCell;
  return with_interval(fixed(improvement->value, 2), *improvement, 1.0);
}

// ---- Tables ----

/// Allows a long name to break after its dots, commas and equals signs. Takes and returns HTML.
std::string breakable(const std::string& name) {
  std::string html;
  for (const char c : name) {
    html += c;
    if (c == '.' || c == ',' || c == '=') html += "<wbr>";
  }
  return html;
}

/// Returns the label preceded by its colour in the charts.
std::string marked_label(const Comparison& comparison, std::size_t variant) {
  return fmt::format("<span class=\"marked\"><span class=\"swatch v{}\"></span>{}</span>", variant,
                     breakable(html_escaped(comparison.variants[variant].label)));
}

/// Runs of older versions did not keep every value.
std::string known(double figure, std::string (*text)(double)) {
  return figure > 0.0 ? text(figure) : kUnknownCell;
}

std::string seeds_cell(const Variant& variant) {
  const std::size_t failing = failing_seeds(variant).size();
  return fmt::format(
      "{}{}{}", variant.seeds.size(),
      variant.mean.known || error_over_scenes(variant) ? "" : "<small>no interval</small>",
      failing > 0 ? fmt::format("<small>{} fail{}</small>", failing, failing == 1 ? "s" : "") : "");
}

/// A control that is not clearly worse is marked.
std::string control_cell(const Variant& variant, Metric metric) {
  const auto control = std::ranges::find(variant.controls, metric, &Control::metric);
  if (control == variant.controls.end()) return "";
  const std::string cell = share_cell(control->error);
  return control->beaten ? cell : "<strong>" + cell + "</strong>";
}

/// A table with one row per variant, built column by column.
class VariantTable {
 public:
  explicit VariantTable(const Comparison& comparison) : comparison_(comparison) {
    for (std::size_t v = 0; v < comparison.variants.size(); ++v)
      rows_.push_back({marked_label(comparison, v)});
  }

  /// Adds a column with `cell` of each variant.
  template <class Cell>
  void add(const std::string& title, const Cell& cell) {
    header_.push_back(title);
    for (std::size_t v = 0; v < rows_.size(); ++v)
      rows_[v].push_back(cell(comparison_.variants[v]));
  }
  std::string html() const { return labelled_table(header_, rows_, "figures"); }

 private:
  const Comparison& comparison_;
  Cells header_ = {"variant"};
  std::vector<Cells> rows_;
};

}  // namespace

std::string grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (int place = static_cast<int>(digits.size()) - 3; place > 0; place -= 3)
    digits.insert(place, "\u202f");
  return digits;
}

std::string figures_table(const Comparison& comparison) {
  const auto& variants = comparison.variants;
  const auto any = [&](const auto& has) { return std::ranges::any_of(variants, has); };
  const bool intervals = any([](const Variant& v) { return v.mean.known; });
  VariantTable table(comparison);
  table.add("seeds", seeds_cell);
  table.add("error, mean", error_cell);
  if (intervals)
    table.add("error, interquartile mean",
              [](const Variant& v) { return share_cell(v.interquartile_mean); });
  if (variants.size() > 1) {
    const auto is_first = [&](const Variant& v) { return &v == &variants.front(); };
    table.add("difference to the first",
              [&](const Variant& v) { return is_first(v) ? "the first" : difference_cell(v); });
    if (intervals)
      table.add("P(better than the first)", [&](const Variant& v) {
        return is_first(v) ? kUnknownCell : improvement_cell(v.improvement);
      });
  }
  for (const Metric metric : kControls)
    if (any([&](const Variant& v) { return control_error(v, metric).has_value(); }))
      table.add(control_title(metric), [&](const Variant& v) { return control_cell(v, metric); });
  table.add("looks on the digit",
            [](const Variant& v) { return v.looks ? share_cell(v.on_target) : "sees all"; });
  return table.html();
}

std::string costs_table(const Comparison& comparison) {
  VariantTable table(comparison);
  table.add("training episodes", [](const Variant& v) { return grouped(v.episodes); });
  table.add("GFLOP an episode",
            [](const Variant& v) { return known(v.gflop_per_episode, short_number); });
  table.add("pixels looked at an episode",
            [](const Variant& v) { return known(v.canvas_pixels, grouped); });
  table.add("training time", [](const Variant& v) { return clock_time(v.seconds); });
  if (std::ranges::any_of(comparison.variants,
                          [](const Variant& v) { return v.stopping.has_value(); })) {
    table.add("error, stopping when sure", [](const Variant& v) {
      return v.stopping ? with_interval(percent(v.stopping->stopped.error.value),
                                        v.stopping->stopped.error, 100.0,
                                        v.stopping->over_scenes ? kOverScenes : "")
                        : kUnknownCell;
    });
    table.add("looks until it stops", [](const Variant& v) {
      return v.stopping ? with_interval(fmt::format("{:.2f} of {}", v.stopping->stopped.looks.value,
                                                    v.stopping->always.size()),
                                        v.stopping->stopped.looks, 1.0,
                                        v.stopping->over_scenes ? kOverScenes : "")
                        : kUnknownCell;
    });
  }
  return table.html();
}

std::string runs_table(const Comparison& comparison) {
  std::vector<Cells> rows;
  const auto over_scenes = [](const Variant& variant, std::size_t run) {
    return run < variant.errors_over_scenes.size() && variant.errors_over_scenes[run].known
               ? with_interval("", variant.errors_over_scenes[run], 100.0, kOverScenes)
               : "";
  };
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    const Variant& variant = comparison.variants[v];
    for (std::size_t run = 0; run < variant.seeds.size(); ++run)
      rows.push_back({marked_label(comparison, v), std::to_string(variant.seeds[run]),
                      run < variant.errors.size()
                          ? percent(variant.errors[run]) + over_scenes(variant, run)
                          : "",
                      run < variant.folders.size()
                          ? "<code>" + html_escaped(variant.folders[run].string()) + "</code>"
                          : ""});
  }
  return html_table({"variant", "seed", "error", "folder"}, rows, "runs");
}

std::string settings_table(const Comparison& comparison) {
  const auto& variants = comparison.variants;
  const auto& keys = comparison.differing;
  const auto setting = [&](std::size_t variant, std::size_t key) {
    const auto& settings = variants[variant].settings;
    return key < settings.size() ? html_escaped(settings[key]) : std::string();
  };
  Cells header;
  std::vector<Cells> rows;
  if (keys.size() >= variants.size()) {
    header = {"setting"};
    for (std::size_t v = 0; v < variants.size(); ++v) header.push_back(marked_label(comparison, v));
    for (std::size_t k = 0; k < keys.size(); ++k) {
      rows.push_back({"<code>" + breakable(html_escaped(keys[k])) + "</code>"});
      for (std::size_t v = 0; v < variants.size(); ++v) rows.back().push_back(setting(v, k));
    }
  } else {
    header = {"variant"};
    for (const std::string& key : keys)
      header.push_back("<code>" + breakable(html_escaped(key)) + "</code>");
    for (std::size_t v = 0; v < variants.size(); ++v) {
      rows.push_back({marked_label(comparison, v)});
      for (std::size_t k = 0; k < keys.size(); ++k) rows.back().push_back(setting(v, k));
    }
  }
  return html_table(header, rows, "settings");
}

std::string tries_table(const Comparison& comparison) {
  std::vector<Cells> rows;
  for (std::size_t v = 0; v < comparison.variants.size(); ++v)
    for (const Try& one : comparison.variants[v].tries) {
      Cells& row = rows.emplace_back(Cells{marked_label(comparison, v)});
      for (const std::string& value : one.values) row.push_back(html_escaped(value));
      row.push_back(fmt::format("{}", fmt::join(comparison.variants[v].tuning_seeds, ", ")));
      row.push_back(share_cell(one.valid_error));
      row.push_back(one.chosen ? "<strong>chosen</strong>" : "");
    }
  Cells header = {"variant"};
  for (const std::string& key : comparison.tuned_by)
    header.push_back("<code>" + breakable(html_escaped(key)) + "</code>");
  header.insert(header.end(), {"by seeds", "validation error, mean", "stands for its variant"});
  return "<p>Of the values tried, the one with the least validation error stands for its variant. "
         "The tests of the others were not read.</p>\n" +
         html_table(header, rows, "runs");
}

std::string left_out_table(const Comparison& comparison) {
  std::vector<Cells> rows;
  for (const LeftOut& one : comparison.left_out)
    rows.push_back(
        {"<code>" + html_escaped(one.folder.string()) + "</code>", html_escaped(one.reason)});
  return html_table({"folder", "why"}, rows, "settings");
}

}  // namespace saccade
