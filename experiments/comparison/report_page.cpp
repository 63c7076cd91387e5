#include "experiments/comparison/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>

#include "experiments/comparison/chart_drawing.h"
#include "experiments/comparison/chart_numbers.h"
#include "experiments/comparison/drawing_svg.h"
#include "experiments/comparison/html.h"
#include "experiments/comparison/page_assets.h"
#include "nn/error.h"

namespace saccade {
namespace {

constexpr const char* kNoInterval = "one seed: no interval";

// ---- Figures as text ----

std::string percent(double share) { return fmt::format("{:.2f} %", share * 100.0); }

std::string grouped(double count) {  // 8 000 000
  std::string digits = fmt::format("{:.0f}", count);
  for (int place = static_cast<int>(digits.size()) - 3; place > 0; place -= 3)
    digits.insert(place, "\u202f");
  return digits;
}

std::string duration(double seconds) {
  if (seconds < 120.0) return fmt::format("{} s", short_number(seconds));
  if (seconds < 7200.0) return fmt::format("{} min", short_number(seconds / 60.0));
  return fmt::format("{} h", short_number(seconds / 3600.0));
}

// With a true minus.
std::string fixed(double value, int decimals, bool with_plus = false) {
  const std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  if (digits.find_first_of("123456789") == std::string::npos) return digits;
  return (value < 0.0 ? "\u2212" : with_plus ? "+" : "") + digits;
}

/// A figure with its interval below it.
std::string with_interval(const std::string& figure, const Estimate& estimate, double factor) {
  const std::string interval = estimate.known
                                   ? fmt::format("[{}, {}]", fixed(estimate.low * factor, 2),
                                                 fixed(estimate.high * factor, 2))
                                   : kNoInterval;
  return fmt::format("{}<small>{}</small>", figure, interval);
}

std::string share_cell(const Estimate& estimate) {
  return with_interval(percent(estimate.value), estimate, 100.0);
}

std::string difference_cell(const std::optional<Estimate>& difference) {
  if (!difference) return "–";
  return with_interval(fixed(difference->value * 100.0, 2, true) + " points", *difference, 100.0);
}

std::string improvement_cell(const std::optional<Estimate>& improvement) {
  if (!improvement) return "–";
  return with_interval(fixed(improvement->value, 2), *improvement, 1.0);
}

// ---- Tables ----

/// Lets a long name break behind its dots, commas and equals signs. Takes and gives HTML.
std::string breakable(const std::string& name) {
  std::string html;
  for (const char c : name) {
    html += c;
    if (c == '.' || c == ',' || c == '=') html += "<wbr>";
  }
  return html;
}

/// The label behind the colour that it has in the charts.
std::string marked_label(const Comparison& comparison, std::size_t variant) {
  return fmt::format("<span class=\"swatch v{}\"></span>{}", variant,
                     breakable(html_escaped(comparison.variants[variant].label)));
}

/// Runs of older versions did not keep every figure.
std::string known(double figure, std::string (*text)(double)) {
  return figure > 0.0 ? text(figure) : "–";
}

std::string figures_table(const Comparison& comparison) {
  std::vector<Cells> rows;
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    const Variant& variant = comparison.variants[v];
    const bool first = v == 0;
    rows.push_back({marked_label(comparison, v), std::to_string(variant.seeds.size()),
                    share_cell(variant.mean), share_cell(variant.interquartile_mean),
                    first ? "the first" : difference_cell(variant.difference),
                    first ? "–" : improvement_cell(variant.improvement),
                    variant.looks ? share_cell(variant.on_target) : "sees all",
                    grouped(variant.episodes), known(variant.gflop_per_episode, short_number),
                    known(variant.canvas_pixels, grouped), duration(variant.seconds)});
  }
  return html_table(
      {"variant", "seeds", "error, mean", "error, interquartile mean", "difference to the first",
       "P(better than the first)", "looks on the digit", "training episodes", "GFLOP an episode",
       "pixels looked at an episode", "training time"},
      rows, "figures");
}

std::string runs_table(const Comparison& comparison) {
  std::vector<Cells> rows;
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    const Variant& variant = comparison.variants[v];
    for (std::size_t run = 0; run < variant.seeds.size(); ++run)
      rows.push_back({marked_label(comparison, v), std::to_string(variant.seeds[run]),
                      run < variant.errors.size() ? percent(variant.errors[run]) : "",
                      run < variant.folders.size()
                          ? "<code>" + html_escaped(variant.folders[run].string()) + "</code>"
                          : ""});
  }
  return html_table({"variant", "seed", "error", "folder"}, rows, "runs");
}

/// The longer of the two lists goes down the page.
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

/// A row a try, and which one stands for its variant.
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

// ---- Sections ----

std::string section(const std::string& title, const std::string& html) {
  if (html.empty()) return "";
  return "<section>\n<h2>" + title + "</h2>\n" + html + "</section>\n";
}

/// Wide and narrow: style shows the one for which there is room, and letters stay readable.
std::string drawings(const Chart& chart) {
  constexpr Sheet kMatrix{.width = 400.0}, kRows{.width = 800.0}, kWide{.width = 600.0};
  constexpr Sheet kNarrow{.width = 360.0};
  if (is_matrix(chart)) return svg_of(draw_chart(chart, kMatrix), chart.text);
  const Sheet& wide = chart.kind == ChartKind::rows ? kRows : kWide;
  return svg_of(draw_chart(chart, wide), chart.text) +
         svg_of(draw_chart(chart, kNarrow), chart.text);
}

std::string figures(const std::vector<Chart>& charts,
                    const std::function<bool(const Chart&)>& belongs) {
  std::string html;
  for (const Chart& chart : charts) {
    if (!belongs(chart)) continue;
    html += fmt::format(
        "<figure id=\"{}\"><figcaption>{}</figcaption>\n<div class=\"plot\">\n{}</div>\n"
        "<details><summary>In words and numbers</summary><p>{}</p>\n{}</details></figure>\n",
        html_escaped(chart.id), html_escaped(chart.title), drawings(chart),
        html_escaped(chart.text), numbers_table(chart));
  }
  return html;
}

std::string charts_section(const std::string& title, const std::vector<Chart>& charts,
                           const char* style, const std::function<bool(const Chart&)>& belongs) {
  const std::string html = figures(charts, belongs);
  return html.empty() ? ""
                      : section(title, fmt::format("<div class=\"{}\">\n{}</div>\n", style, html));
}

std::string recording_section(const std::optional<EmbeddedRecording>& recording) {
  if (!recording) return "";
  const bool is_video = recording->media_type.starts_with("video/");
  if (!is_video && !recording->media_type.starts_with("image/"))
    throw InputError(fmt::format("recording '{}': media type '{}' is none of image/..., video/...",
                                 recording->title, recording->media_type));
  const std::string title = html_escaped(recording->title);
  const std::string source = fmt::format("data:{};base64,{}", html_escaped(recording->media_type),
                                         base64(recording->bytes));
  const std::string media =
      is_video ? fmt::format(
                     "<video controls loop muted playsinline aria-label=\"{}\" src=\"{}\">"
                     "</video>",
                     title, source)
               : fmt::format("<img alt=\"{}\" src=\"{}\">", title, source);
  return section("Side by side",
                 fmt::format("<figure class=\"recording\"><figcaption>{}</figcaption>\n{}\n"
                             "<p class=\"on-paper\">The recording plays on the screen.</p>"
                             "</figure>\n",
                             title, media));
}

std::string title_of(const Comparison& comparison) {
  constexpr std::size_t kMost = 70;
  Cells labels;
  for (const Variant& variant : comparison.variants) labels.push_back(variant.label);
  const std::string joined = fmt::format("{}", fmt::join(labels, " · "));
  return joined.size() <= kMost ? joined : fmt::format("{} variants compared", labels.size());
}

std::string counted(std::size_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string summary_of(const Comparison& comparison) {
  std::size_t runs = 0;
  bool all_known = true, any_known = false;
  for (const Variant& variant : comparison.variants) {
    runs += variant.seeds.size();
    all_known = all_known && variant.mean.known;
    any_known = any_known || variant.mean.known;
  }
  std::string text =
      fmt::format("{}, {}. Errors are on {} test scenes, by a single deterministic pass.",
                  counted(comparison.variants.size(), "variant"), counted(runs, "run"),
                  grouped(comparison.scenes));
  if (any_known)
    text += fmt::format(" Intervals are of 95 %, by a bootstrap over seeds with {} resamples.",
                        grouped(comparison.resamples));
  if (!all_known) text += " A variant with one seed has no interval.";
  return text;
}

std::string commands_section(const Comparison& comparison) {
  if (comparison.commands.empty()) return "";
  return section(
      "Made by",
      fmt::format("<pre><code>{}</code></pre>\n",
                  html_escaped(fmt::format("{}", fmt::join(comparison.commands, "\n")))));
}

}  // namespace

std::string report_page(const Comparison& comparison, const std::vector<Chart>& charts,
                        const std::optional<EmbeddedRecording>& recording) {
  const auto of_kind = [](ChartKind kind) {
    return [kind](const Chart& chart) { return chart.kind == kind; };
  };
  const auto of_cost = [](const Chart& chart) { return chart.id.starts_with("cost_"); };
  const auto other = [&](const Chart& chart) { return !is_matrix(chart) && !of_cost(chart); };
  const std::string sections =
      section("Figures", figures_table(comparison) + "<details><summary>Every run</summary>\n" +
                             runs_table(comparison) + "</details>\n") +
      section("What was tried", comparison.tuned_by.empty() ? "" : tries_table(comparison)) +
      recording_section(recording) + charts_section("Charts", charts, "charts", other) +
      charts_section("Error against cost", charts, "matrices panels", of_cost) +
      charts_section("Where each variant looks", charts, "matrices", of_kind(ChartKind::heat_map)) +
      charts_section("What is taken for what", charts, "matrices", of_kind(ChartKind::confusion)) +
      section("What differs", comparison.differing.empty() ? "" : settings_table(comparison)) +
      section("Left out", comparison.left_out.empty() ? "" : left_out_table(comparison)) +
      commands_section(comparison);
  const std::size_t variants = comparison.variants.size();
  return filled(report_html(), {{"title", html_escaped(title_of(comparison))},
                                {"summary", html_escaped(summary_of(comparison))},
                                {"sections", sections},
                                {"css", style_of_drawings(static_cast<int>(variants)) +
                                            std::string(report_css())}});
}

}  // namespace saccade
