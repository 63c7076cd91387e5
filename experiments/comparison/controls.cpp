#include "experiments/comparison/controls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "experiments/comparison/statistics.h"

namespace saccade {
namespace {

struct ControlWords {
  Metric metric;
  const char* title;
  const char* who;  // what could not do better
};

constexpr std::array<ControlWords, kControls.size()> kWords = {{
    {"test/error_shuffled", "shuffled", "the looks of other scenes"},
    {"test/error_center", "centre", "looks at the centre"},
    {"test/error_random", "random", "random looks"},
}};

const ControlWords& words_of(Metric metric) {
  return *std::ranges::find(kWords, metric, &ControlWords::metric);
}

}  // namespace

std::vector<Control> controls_of(const Runs& runs) {
  std::vector<Control> controls;
  for (const Metric metric : kControls) {
    std::vector<double> errors, more;  // and by how much they are above those of the agent
    for (const FinishedRun& run : runs)
      if (const auto found = run.controls.find(metric); found != run.controls.end()) {
        errors.push_back(found->second.value);
        more.push_back(found->second.value - run.error);
      }
    if (errors.size() < runs.size()) continue;
    const Estimate by = estimate_difference(more);
    const bool beaten =
        by.known ? by.low > 0.0 : std::ranges::all_of(runs, [&](const FinishedRun& run) {
          return run.error_over_scenes.high < run.controls.at(metric).low;
        });
    controls.push_back({metric, estimate_share(errors), beaten});
  }
  return controls;
}

std::optional<Estimate> control_error(const Variant& variant, Metric metric) {
  const auto found = std::ranges::find(variant.controls, metric, &Control::metric);
  return found == variant.controls.end() ? std::nullopt : std::optional(found->error);
}

std::string control_title(Metric metric) { return words_of(metric).title; }

std::vector<std::string> idle_attention(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (const Variant& variant : comparison.variants) {
    std::vector<std::string> unbeaten;
    for (const Control& control : variant.controls)
      if (!control.beaten)
        unbeaten.push_back(
            fmt::format("{} ({:.2f} %)", words_of(control.metric).who, 100 * control.error.value));
    if (!unbeaten.empty())
      sentences.push_back(
          fmt::format("{}: attention does nothing that {} could not: its error, {:.2f} %, is not "
                      "clearly less.",
                      variant.label, fmt::join(unbeaten, " and "), 100 * variant.mean.value));
  }
  return sentences;
}

}  // namespace saccade
