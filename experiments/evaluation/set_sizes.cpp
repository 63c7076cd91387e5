#include "experiments/evaluation/set_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "env/search.h"

namespace saccade {
namespace {

// The slope of the line of least squares through points (x, y), from their sums.
struct LeastSquares {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;

  void add(double at_x, double at_y) {
    n += 1.0;
    x += at_x;
    y += at_y;
    xx += at_x * at_x;
    xy += at_x * at_y;
  }
  std::optional<double> slope() const {
    const double spread = n * xx - x * x;
    if (spread <= 0.0) return {};
    return (n * xy - x * y) / spread;
  }
};

// Turns the sums of a result into means.
void divide(SetSizeResult& result) {
  const double scenes =
      result.scenes > 0 ? result.scenes : std::numeric_limits<double>::quiet_NaN();
  for (double* sum : {&result.error, &result.stopped_error, &result.looks}) *sum /= scenes;
}

std::string cells(const SetSizeResult& result) {
  if (result.scenes == 0) return fmt::format("{:>10}{:>12}{:>8}", "-", "-", "-");
  return fmt::format("{:>8.2f} %{:>10.2f} %{:>8.2f}", 100 * result.error,
                     100 * result.stopped_error, result.looks);
}

}  // namespace

SetSizeReport set_size_report(std::span<const SearchedScene> scenes, const LookOutcomes& outcomes,
                              double threshold) {
  SACCADE_CHECK(static_cast<int>(scenes.size()) == outcomes.scenes());
  std::set<int> sizes;
  for (const SearchedScene& scene : scenes) sizes.insert(scene.size);
  SetSizeReport report{.threshold = threshold, .sizes = {sizes.begin(), sizes.end()}};
  for (auto& results : report.results) results.resize(sizes.size());
  std::array<LeastSquares, 2> lines;
  const std::vector<int> looks = looks_until_sure(outcomes, threshold);
  for (std::size_t n = 0; n < scenes.size(); ++n) {
    const auto [size, label] = scenes[n];
    const auto place = std::ranges::lower_bound(report.sizes, size) - report.sizes.begin();
    SetSizeResult& result = report.results[label][place];
    const std::uint8_t* right = &outcomes.right[n * outcomes.looks];
    ++result.scenes;
    result.error += right[outcomes.looks - 1] == 0;
    result.stopped_error += right[looks[n] - 1] == 0;
    result.looks += looks[n];
    lines[label].add(size, looks[n]);
  }
  for (int label = 0; label < 2; ++label) {
    std::ranges::for_each(report.results[label], divide);
    report.slopes[label] = lines[label].slope();
  }
  return report;
}

std::string to_text(const SetSizeReport& report) {
  const std::vector<std::string> answers = search_answers();
  std::string text = fmt::format("  {:<10}", "set size");
  for (const std::string& answer : answers)
    text += fmt::format("{:>10}{:>12}{:>8}", answer, "stopped", "looks");
  text += '\n';
  for (std::size_t s = 0; s < report.sizes.size(); ++s) {
    text += fmt::format("  {:<10}", report.sizes[s]);
    for (const auto& results : report.results) text += cells(results[s]);
    text += '\n';
  }
  text += fmt::format("  stopped when surer than {}; looks an item:", report.threshold);
  for (std::size_t label = 0; label < answers.size(); ++label)
    text += fmt::format("{} {} {}", label > 0 ? "," : "", answers[label],
                        report.slopes[label] ? fmt::format("{:.2f}", *report.slopes[label]) : "-");
  return text + '\n';
}

nlohmann::ordered_json to_json(const SetSizeReport& report) {
  nlohmann::ordered_json document{{"threshold", report.threshold}, {"set_sizes", report.sizes}};
  const std::vector<std::string> answers = search_answers();
  for (std::size_t label = 0; label < answers.size(); ++label) {
    nlohmann::ordered_json& part = document[answers[label]];
    for (const char* name : {"scenes", "error", "stopped_error", "looks"})
      part[name] = nlohmann::ordered_json::array();
    for (const SetSizeResult& result : report.results[label]) {
      const auto mean = [&](double value) {
        return result.scenes > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
      };
      part["scenes"].push_back(result.scenes);
      part["error"].push_back(mean(result.error));
      part["stopped_error"].push_back(mean(result.stopped_error));
      part["looks"].push_back(mean(result.looks));
    }
    const std::optional<double>& slope = report.slopes[label];
    part["looks_per_item"] = slope ? nlohmann::ordered_json(*slope) : nlohmann::ordered_json();
  }
  return document;
}

}  // namespace saccade
