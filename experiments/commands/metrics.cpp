#include "experiments/files/metrics.h"
#include "experiments/files/json_text.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "experiments/commands/command.h"

namespace saccade {
namespace {

std::vector<std::string> places_of(const MetricFacts& facts) {
  constexpr std::pair<Written, const char*> kPlaces[] = {{kInMetrics, "metrics.csv"},
                                                         {kInSummary, "summary.json"},
                                                         {kInDetails, "test.json"},
                                                         {kInCompare, "compare.csv"},
                                                         {kOnScreen, "screen"}};
  std::vector<std::string> places;
  for (const auto& [bit, place] : kPlaces)
    if ((facts.written & bit) != 0) places.push_back(place);
  return places;
}

std::string list_metrics(const std::string& pattern, bool json) {
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  std::string text;
  for (const MetricFacts& facts : kMetrics) {
    if (facts.name.find(pattern) == std::string_view::npos &&
        facts.about.find(pattern) == std::string_view::npos)
      continue;
    document.push_back({{"name", facts.name},
                        {"unit", facts.unit},
                        {"about", facts.about},
                        {"written", places_of(facts)}});
    text += fmt::format("{:<34}{:<15}{}\n", facts.name, facts.unit, facts.about);
  }
  if (document.empty())
    throw InputError(fmt::format("'{}': no metric has that in its name or meaning", pattern));
  return json ? json_text(document, 2) + "\n" : text;
}

}  // namespace

Command metrics_command() {
  struct Line {
    std::string pattern;
    bool json = false;
  };
  const auto line = std::make_shared<Line>();
  return {.name = "metrics",
          .group = "Experiments",
          .about = "List the metrics: names, units, meanings, files",
          .options = {{"pattern", &line->pattern, "Part of a name or of a meaning; default: all"},
                      json_option(&line->json)},
          .call =
              [line](const Call&) {
                say(list_metrics(line->pattern, line->json));
                return Ending::done;
              },
          .examples = {"saccade metrics on_target", "saccade metrics --json"}};
}

}  // namespace saccade
