#include "experiments/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace saccade {
namespace {

std::vector<TestPass> passes_of(const Model& model, int rollouts) {
  std::vector<TestPass> passes;
  const auto add = [&](std::string label, std::string metric, PassRequest request) {
    passes.push_back({std::move(label), std::move(metric), request, {}});
  };
  add("single deterministic pass", "test/error", {.details = true});
  if (model.sees_canvas()) return passes;
  if (model.glimpse_kind().family != GlimpseKind::Family::window) {
    add("one sampled pass", "test/error_sampled", {.readout = Readout::sample});
    add(fmt::format("mean of {} sampled passes", rollouts), "test/error_averaged",
        {.readout = Readout::sample, .passes = rollouts});
  }
  if (model.has_grid() && model.learns_by(GlimpseKind::Learning::backpropagation))
    add("most probable glimpse alone", "test/error_argmax", {.readout = Readout::argmax});
  add("shuffled locations", "test/error_shuffled", {.shuffled = true});
  add("centre policy, same weights", "test/error_center", {.policy = find_policy("center")});
  add("random policy, same weights", "test/error_random", {.policy = find_policy("random")});
  return passes;
}

}  // namespace

TestReport test_agent(const Model& model, std::span<const float> parameters, Evaluator& evaluator,
                      int rollouts) {
  TestReport report{passes_of(model, rollouts)};
  for (TestPass& pass : report.passes) pass.result = evaluator.run(parameters, pass.request);
  return report;
}

int test_passes(const Model& model, int rollouts) {
  int count = 0;
  for (const TestPass& pass : passes_of(model, rollouts))
    count += pass.request.passes * (pass.request.shuffled ? 2 : 1);
  return count;
}

std::string to_table(const TestReport& report) {
  const bool looks = report.passes.size() > 1;
  std::string table =
      fmt::format("  {:<28}{:>10}   95 % interval",
                  fmt::format("test, {} scenes", report.deterministic().scenes), "error");
  table += looks ? "      on digit\n" : "\n";
  for (const auto& [label, metric, request, e] : report.passes) {
    table += fmt::format("  {:<28}{:>8.2f} %   [{:.2f}, {:.2f}]", label, 100 * e.error,
                         100 * e.error_low, 100 * e.error_high);
    table += looks ? fmt::format("   {:>10.1f} %\n", 100 * e.on_target) : "\n";
  }
  return table;
}

std::map<std::string, double> to_metrics(const TestReport& report) {
  std::map<std::string, double> metrics{{"test/scenes", report.deterministic().scenes}};
  for (const auto& [label, metric, request, e] : report.passes) {
    metrics[metric] = e.error;
    metrics[metric + "_low"] = e.error_low;
    metrics[metric + "_high"] = e.error_high;
    if (metric == "test/error_random") metrics["attention/on_target_random"] = e.on_target;
  }
  if (report.passes.size() == 1) return metrics;  // a model that does not look
  const Evaluation& e = report.deterministic();
  metrics["attention/on_target"] = e.on_target;
  metrics["attention/border"] = e.border;
  metrics["attention/distance"] = e.distance;
  metrics["attention/coverage"] = e.coverage;
  metrics["attention/entropy"] = e.entropy;
  return metrics;
}

std::string to_details(const TestReport& report, const std::vector<std::string>& class_names) {
  const Evaluation& e = report.deterministic();
  const nlohmann::ordered_json details{{"class_names", class_names},
                                       {"attention/on_target_by_glimpse", e.on_target_by_glimpse},
                                       {"test/error_by_glimpse", e.details.error_by_glimpse},
                                       {"test/confusion", e.details.confusion},
                                       {"attention/look_map",
                                        {{"rows", e.details.map.rows},
                                         {"cols", e.details.map.cols},
                                         {"weights", e.details.look_map}}}};
  return details.dump() + "\n";
}

}  // namespace saccade
