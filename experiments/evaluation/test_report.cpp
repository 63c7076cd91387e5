#include "experiments/evaluation/test_report.h"

#include <fmt/format.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "experiments/files/json_text.h"

namespace saccade {
namespace {

std::vector<TestPass> passes_of(const Model& model, const EvaluationConfig& config) {
  std::vector<TestPass> passes;
  const auto add = [&](std::string label, Metric metric, PassRequest request) {
    passes.push_back({std::move(label), metric, request, {}});
  };
  add("single deterministic pass", "test/error", {.details = true});
  const LookTraits& look = model.look();
  if (model.answer().spells)
    add(fmt::format("beam search, {} hypotheses", config.beam), "test/error_beam",
        {.beam = config.beam});
  if (!look.looks) return passes;
  if (look.samples) {
    add("one sampled pass", "test/error_sampled", {.readout = Readout::sample});
    if (model.answer().classifies)
      add(fmt::format("mean of {} sampled passes", config.rollouts), "test/error_averaged",
          {.readout = Readout::sample, .passes = config.rollouts});
  }
  if (look.expects)
    add("most probable glimpse alone", "test/error_argmax", {.readout = Readout::argmax});
  add("shuffled locations", "test/error_shuffled", {.shuffled = true});
  add("centre policy, same weights", "test/error_center", {.policy = find_policy("center")});
  add("random policy, same weights", "test/error_random", {.policy = find_policy("random")});
  return passes;
}

}  // namespace

TestReport test_agent(const Model& model, std::span<const float> parameters, Evaluator& evaluator,
                      const EvaluationConfig& config, AttentionWeights* attention,
                      const Told& told) {
  TestReport report{passes_of(model, config)};
  const std::int64_t total = std::int64_t{test_passes(model, config)} * evaluator.scenes();
  std::atomic<std::int64_t> done = 0;
  if (told) {
    told(0, total);
    for (TestPass& pass : report.passes)
      pass.request.played = [&](int scenes) { told(done += scenes, total); };
  }
  report.passes.front().request.attention = attention;
  for (TestPass& pass : report.passes) pass.result = evaluator.run(parameters, pass.request);
  for (TestPass& pass : report.passes) pass.request.played = nullptr;
  return report;
}

int test_passes(const Model& model, const EvaluationConfig& config) {
  int count = 0;
  for (const TestPass& pass : passes_of(model, config))
    count += pass.request.passes * (pass.request.shuffled ? 2 : 1);
  return count;
}

std::string to_table(const TestReport& report, const Model& model) {
  const bool looks = model.look().looks;
  const bool sequences = model.answer().spells, acts = model.answer().acts;
  const Evaluation& first = report.deterministic();
  const std::string scenes = first.images > 0 && first.images < first.scenes
                                 ? fmt::format("test, {} scenes of {}", first.scenes, first.images)
                                 : fmt::format("test, {} scenes", first.scenes);
  std::string table =
      fmt::format("  {:<28}{:>10}   95 % interval", scenes, acts ? "missed" : "error");
  if (sequences) table += "     by symbol";
  table += !looks ? "\n" : acts ? "       on ball\n" : "      on digit\n";
  for (const auto& [label, metric, request, e] : report.passes) {
    table += fmt::format("  {:<28}{:>8.2f} %   [{:.2f}, {:.2f}]", label, 100 * e.error,
                         100 * e.error_low, 100 * e.error_high);
    if (sequences) table += fmt::format("   {:>8.2f} %", 100 * e.symbol_error);
    table += looks ? fmt::format("   {:>10.1f} %\n", 100 * e.on_target) : "\n";
  }
  if (model.answer().attends && looks)
    table += fmt::format("  attention over states: {:.1f} % on the answer\n",
                         100 * report.deterministic().on_answer);
  return table;
}

MetricValues to_metrics(const TestReport& report, const Model& model) {
  MetricValues metrics;
  metrics["test/scenes"] = report.deterministic().scenes;
  metrics["test/images"] = report.deterministic().images;
  for (const auto& [label, metric, request, e] : report.passes) {
    metrics[metric] = e.error;
    metrics[metric.low()] = e.error_low;
    metrics[metric.high()] = e.error_high;
    if (metric == "test/error_random") metrics["attention/on_target_random"] = e.on_target;
    if (metric == "test/error_beam") metrics["test/symbol_error_beam"] = e.symbol_error;
  }
  const Evaluation& e = report.deterministic();
  if (model.answer().spells) metrics["test/symbol_error"] = e.symbol_error;
  if (model.answer().acts) metrics["test/earned"] = 1.0 - e.error;
  if (!model.look().looks) return metrics;
  if (model.answer().attends) metrics["attention/on_answer"] = e.on_answer;
  metrics["attention/on_target"] = e.on_target;
  metrics["attention/border"] = e.border;
  metrics["attention/distance"] = e.distance;
  metrics["attention/coverage"] = e.coverage;
  metrics["attention/entropy"] = e.entropy;
  return metrics;
}

std::string to_details(const TestReport& report, const std::vector<std::string>& class_names) {
  const Evaluation& e = report.deterministic();
  nlohmann::ordered_json details{{"class_names", class_names}};
  const auto put = [&](Metric metric, nlohmann::ordered_json value) {
    details[metric.name()] = std::move(value);
  };
  put("attention/on_target_by_glimpse", e.on_target_by_glimpse);
  put("test/error_by_glimpse", e.details.error_by_glimpse);
  put("test/confusion", e.details.confusion);
  put("attention/look_map", {{"rows", e.details.map.rows},
                             {"cols", e.details.map.cols},
                             {"weights", e.details.look_map}});
  return json_text(details) + "\n";
}

}  // namespace saccade
