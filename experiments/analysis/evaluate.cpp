#include "experiments/analysis/evaluate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/output.h"
#include "experiments/evaluation/attention_weights.h"

namespace saccade {

namespace {

// A file that is not to be written over.
void open_weights(std::optional<OutputFile>& file, const std::filesystem::path& path) {
  if (path.empty()) return;
  if (path.extension() != ".npz")
    throw InputError(fmt::format("--weights {}: unknown suffix '{}'; allowed: .npz", path.string(),
                                 path.extension().string()));
  file.emplace(path, /*force=*/false, "--weights names another file");
}

// Returns the rule to stop as given, for messages; empty if none was.
std::string given_rule(const EvaluateRequest& request) {
  if (request.stop) return fmt::format("--stop {}", *request.stop);
  const StopTarget& target = request.stop_target;
  if (target.error) return fmt::format("--stop-error {}", *target.error);
  return target.looks ? fmt::format("--stop-looks {}", *target.looks) : "";
}

void check_rule(const EvaluateRequest& request, const Model& model) {
  const std::string rule = given_rule(request);
  if (rule.empty()) return;
  require_may_stop(model, rule);
  if (request.stop) check_threshold(*request.stop, "--stop");
  if (request.stop && (request.stop_target.error || request.stop_target.looks))
    throw InputError(fmt::format(
        "{}: allowed without --stop-error and --stop-looks, which choose the threshold", rule));
  check_target(request.stop_target, model.num_glimpses());
}

}  // namespace

TestFigures evaluate(const EvaluateRequest& request, const ProgressCallback& on_progress) {
  std::optional<OutputFile> weights_file;
  open_weights(weights_file, request.weights);
  const Trained trained(request.run_folder, request.on);
  const Task& task = trained.task;
  check_rule(request, task.model);
  const EvaluationConfig& evaluation = task.config.evaluation;
  const int scenes = task.test_scenes(evaluation);
  Workers workers(request.threads);
  std::optional<AttentionWeights> attention;
  if (weights_file) attention.emplace(task.model, scenes);
  Evaluator tester(task.model, task.environments(Split::test), scenes, evaluation.seed, workers);
  std::optional<Evaluator> validator;
  if (may_stop(task.model))
    validator.emplace(task.model, task.environments(Split::valid), evaluation.scenes,
                      evaluation.seed, workers);
  const TestReport report = test_agent(task.model, flat(trained.weights), tester, evaluation,
                                       attention ? &*attention : nullptr, on_progress,
                                       {.valid = validator ? &*validator : nullptr,
                                        .threshold = request.stop,
                                        .target = request.stop_target});
  if (attention) {
    attention->write(weights_file->path());
    weights_file->commit();
  }
  return {to_table(report, task.model),
          to_metrics(report, task.model),
          report.deterministic().on_target_by_glimpse,
          report.stopping,
          zooms_of(report, task.model),
          report.searched,
          trained.from_training,
          to_details(report, task.class_names())};
}

StopCurves measure_stopping(const std::filesystem::path& run_folder, Workers& workers) {
  const Trained trained(run_folder);
  if (!trained.from_training.empty())
    throw InputError(fmt::format("{}: not as in training: {}", run_folder.string(),
                                 to_text(trained.from_training)));
  const Task& task = trained.task;
  require_may_stop(task.model, run_folder.string());
  const EvaluationConfig& evaluation = task.config.evaluation;
  const auto outcomes = [&](Split split, int scenes) {
    Evaluator evaluator(task.model, task.environments(split), scenes, evaluation.seed, workers);
    return evaluator.run(flat(trained.weights), {.details = true}).details.outcomes;
  };
  StopCurves curves = stop_curves(outcomes(Split::valid, evaluation.scenes));
  add_test(curves, outcomes(Split::test, task.test_scenes(evaluation)));
  return curves;
}

std::string to_text(const TestFigures& figures) {
  std::string text;
  if (!figures.from_training.empty())
    text = fmt::format("  not as in training: {}\n", to_text(figures.from_training));
  text += to_text(figures.table);
  if (figures.stopping) text += fmt::format("\n{}", to_text(*figures.stopping));
  if (figures.searched) text += fmt::format("\n{}", to_text(*figures.searched));
  return text;
}

nlohmann::ordered_json to_json(const TestFigures& figures) {
  nlohmann::ordered_json document;
  for (const auto& [metric, value] : figures.metrics) document[metric.name()] = value;
  const Metric by_glimpse = "attention/on_target_by_glimpse";
  document[by_glimpse.name()] = figures.on_target_by_glimpse;
  const Metric stopping = "test/stopping", searched = "test/search";
  if (figures.stopping) document[stopping.name()] = to_json(figures.stopping->curves);
  if (!figures.zoom_by_glimpse.empty())
    document[Metric("attention/zoom_by_glimpse").name()] = figures.zoom_by_glimpse;
  if (figures.searched) document[searched.name()] = to_json(*figures.searched);
  if (!figures.from_training.empty())
    document[Metric("test/other_scenes").name()] = to_json(figures.from_training);
  return document;
}

}  // namespace saccade
