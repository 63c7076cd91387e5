#include "experiments/comparison/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "experiments/comparison/controls.h"
#include "experiments/comparison/drawing_svg.h"
#include "experiments/comparison/html.h"
#include "experiments/comparison/page_assets.h"
#include "experiments/comparison/page_parts.h"
#include "experiments/comparison/report_tables.h"
#include "experiments/comparison/verdict.h"

namespace saccade {
namespace {

std::string charts_section(const std::string& title, const std::vector<Chart>& charts,
                           const char* style, const std::function<bool(const Chart&)>& belongs) {
  const std::string html = figures(charts, belongs);
  return html.empty() ? ""
                      : section(title, fmt::format("<div class=\"{}\">\n{}</div>\n", style, html));
}

std::string figures_section(const Comparison& comparison) {
  const bool controls = std::ranges::any_of(
      comparison.variants, [](const Variant& variant) { return !variant.controls.empty(); });
  constexpr const char* kControlsNote =
      "<p class=\"note\">Shuffled, centre and random are controls: the error of the same weights "
      "made "
      "to look where they do in another scene, at the centre, at random. One that is not clearly "
      "worse is <strong>marked</strong>.</p>\n";
  const std::string failing =
      may_fail(comparison)
          ? "<p class=\"note\">" + html_escaped(failing_remark(comparison)) + "</p>\n"
          : "";
  return section("Figures", figures_table(comparison) + (controls ? kControlsNote : "") + failing +
                                "<details><summary>Every run</summary>\n" + runs_table(comparison) +
                                "</details>\n");
}

std::string recording_of(const std::optional<EmbeddedRecording>& recording) {
  if (!recording) return "";
  const std::string source =
      fmt::format("data:{};base64,{}", recording->media_type, base64(recording->bytes));
  return section("Side by side", recording_figure({.media_type = recording->media_type,
                                                   .source = source,
                                                   .title = recording->title,
                                                   .rows = recording->rows,
                                                   .cols = recording->cols}));
}

// Returns the name of the study, or a list of what is compared.
std::string title_of(const Comparison& comparison) {
  if (!comparison.name.empty()) return comparison.name;
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
    text += fmt::format(
        " Intervals are of 95 % over seeds: Student's t of means, and of the "
        "interquartile mean (IQM) and P(better) the bootstrap of rliable with {} "
        "resamples, too narrow for a few seeds.",
        grouped(comparison.resamples));
  if (any_over_scenes(comparison))
    text +=
        " An interval over scenes is that of one seed, and does not say what another seed would "
        "do: Wilson's, and of a difference Newcombe's, which takes tests on the same scenes as "
        "independent and so is rather too wide.";
  else if (!all_known)
    text += " A variant with one seed has no interval.";
  return text;
}

std::string verdict_of(const Comparison& comparison) {
  std::string html;
  for (const std::string& sentence : verdict(comparison))
    html += "<p class=\"verdict\">" + html_escaped(sentence) + "</p>\n";
  return html;
}

// Other scenes than in training, and warnings about ineffective attention, before all results.
std::string warnings_of(const Comparison& comparison) {
  std::string html;
  for (const std::string& sentence : tested_elsewhere(comparison))
    html += "<p class=\"note\">" + html_escaped(sentence) + "</p>\n";
  for (const std::string& sentence : idle_attention(comparison))
    html += "<p class=\"warning\" role=\"note\">" + html_escaped(sentence) + "</p>\n";
  return html;
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
  const auto of_stopping = [](const Chart& chart) { return chart.id.starts_with("stopping_"); };
  const auto other = [&](const Chart& chart) {
    return !is_matrix(chart) && !of_cost(chart) && !of_stopping(chart);
  };
  const std::string sections =
      figures_section(comparison) + section("What it cost", costs_table(comparison)) +
      section("What was tried", comparison.tuned_by.empty() ? "" : tries_table(comparison)) +
      recording_of(recording) + charts_section("Charts", charts, "charts", other) +
      charts_section("Error against cost", charts, "matrices panels", of_cost) +
      charts_section("Stopping when sure", charts, "matrices panels", of_stopping) +
      charts_section("Where each variant looks", charts, "matrices", of_kind(ChartKind::heat_map)) +
      charts_section("What is taken for what", charts, "matrices", of_kind(ChartKind::confusion)) +
      section("What differs", comparison.differing.empty() ? "" : settings_table(comparison)) +
      section("Left out", comparison.left_out.empty() ? "" : left_out_table(comparison)) +
      commands_section(comparison);
  const std::size_t variants = comparison.variants.size();
  return filled(report_html(),
                {{"title", html_escaped(title_of(comparison))},
                 {"verdict", verdict_of(comparison)},
                 {"warnings", warnings_of(comparison)},
                 {"summary", html_escaped(summary_of(comparison))},
                 {"sections", sections},
                 {"css", style_of_drawings(static_cast<int>(variants) + 2) +  // stopping_n

                             std::string(report_css())}});
}

}  // namespace saccade
