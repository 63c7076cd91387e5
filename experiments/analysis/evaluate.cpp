#include "experiments/analysis/evaluate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/output.h"
#include "experiments/evaluation/attention_weights.h"
#include "experiments/runs/trained.h"

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

}  // namespace

TestFigures evaluate(const EvaluateRequest& request, const ProgressCallback& on_progress) {
  std::optional<OutputFile> weights_file;
  open_weights(weights_file, request.weights);
  const Trained trained(request.run_folder, request.data);
  const Task& task = trained.task;
  EvaluationConfig evaluation = task.config.evaluation;
  if (request.scenes > 0) evaluation.scenes = request.scenes;
  if (request.draws > 0) evaluation.draws = request.draws;
  const int scenes = task.test_scenes(evaluation);
  Workers workers(request.threads);
  std::optional<AttentionWeights> attention;
  if (weights_file) attention.emplace(task.model, scenes);
  Evaluator tester(task.model, task.environments(Split::test, evaluation), scenes, evaluation.seed,
                   workers);
  const TestReport report = test_agent(task.model, flat(trained.weights), tester, evaluation,
                                       attention ? &*attention : nullptr, on_progress);
  if (attention) {
    attention->write(weights_file->path());
    weights_file->commit();
  }
  return {to_table(report, task.model), to_metrics(report, task.model),
          report.deterministic().on_target_by_glimpse, zooms_of(report, task.model)};
}

nlohmann::ordered_json to_json(const TestFigures& figures) {
  nlohmann::ordered_json document;
  for (const auto& [metric, value] : figures.metrics) document[metric.name()] = value;
  const Metric by_glimpse = "attention/on_target_by_glimpse";
  document[by_glimpse.name()] = figures.on_target_by_glimpse;
  if (!figures.zoom_by_glimpse.empty())
    document[Metric("attention/zoom_by_glimpse").name()] = figures.zoom_by_glimpse;
  return document;
}

}  // namespace saccade
