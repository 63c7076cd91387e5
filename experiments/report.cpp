#include "experiments/report.h"

#include <fmt/format.h>

namespace saccade {

TestReport test_agent(std::span<const float> parameters, Evaluator& evaluator, int passes) {
  TestReport report;
  report.passes = passes;
  report.deterministic = evaluator.run(parameters, {});
  report.sampled = evaluator.run(parameters, {.readout = Readout::sample});
  report.averaged = evaluator.run(parameters, {.readout = Readout::sample, .passes = passes});
  report.random = evaluator.run(parameters, {.policy = find_policy("random")});
  return report;
}

std::string to_table(const TestReport& report) {
  const auto row = [](const std::string& name, const Evaluation& e) {
    return fmt::format("  {:<28}{:>8.2f} %   [{:.2f}, {:.2f}]   {:>10.1f} %\n", name, 100 * e.error,
                       100 * e.error_low, 100 * e.error_high, 100 * e.on_target);
  };
  return fmt::format("  {:<28}{:>10}   {:<14}   {:>10}\n",
                     fmt::format("test, {} scenes", report.deterministic.scenes), "error",
                     "95 % interval", "on digit") +
         row("single deterministic pass", report.deterministic) +
         row("one sampled pass", report.sampled) +
         row(fmt::format("mean of {} sampled passes", report.passes), report.averaged) +
         row("random policy, same weights", report.random);
}

std::map<std::string, double> to_metrics(const TestReport& report) {
  std::map<std::string, double> metrics{
      {"attention/on_target", report.deterministic.on_target},
      {"attention/border", report.deterministic.border},
      {"attention/distance", report.deterministic.distance},
      {"attention/on_target_random", report.random.on_target},
  };
  const auto add = [&](const std::string& name, const Evaluation& e) {
    metrics[name] = e.error;
    metrics[name + "_low"] = e.error_low;
    metrics[name + "_high"] = e.error_high;
  };
  add("test/error", report.deterministic);
  add("test/error_sampled", report.sampled);
  add("test/error_averaged", report.averaged);
  add("test/error_random", report.random);
  metrics["test/scenes"] = report.deterministic.scenes;
  return metrics;
}

}  // namespace saccade
