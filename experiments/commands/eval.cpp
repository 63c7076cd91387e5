#include "experiments/commands/eval.h"
#include "experiments/commands/command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/output.h"
#include "experiments/evaluation/attention_weights.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/files/json_text.h"
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

std::string eval(const EvalOptions& options, const ProgressCallback& on_progress) {
  std::optional<OutputFile> weights_file;
  open_weights(weights_file, options.weights);
  const Trained trained(options.run_folder, options.data);
  const Task& task = trained.task;
  EvaluationConfig evaluation = task.config.evaluation;
  if (options.scenes > 0) evaluation.scenes = options.scenes;
  if (options.draws > 0) evaluation.draws = options.draws;
  const int scenes = task.test_scenes(evaluation);
  Workers workers(options.threads);
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
  if (!options.json) return to_table(report, task.model);
  nlohmann::ordered_json document;
  const auto put = [&](Metric metric, const auto& value) { document[metric.name()] = value; };
  for (const auto& [metric, value] : to_metrics(report, task.model)) put(metric, value);
  put("attention/on_target_by_glimpse", report.deterministic().on_target_by_glimpse);
  return json_text(document, 2) + "\n";
}

Command eval_command() {
  const auto options = std::make_shared<EvalOptions>();
  return {
      .name = "eval",
      .group = "Train and test",
      .about = "Test the best checkpoint of a run",
      .options = {run_folder_option(&options->run_folder),
                  data_option(&options->data),
                  {"--episodes", &options->scenes, "Test scenes", Range{1, 100'000'000}},
                  {"--draws", &options->draws,
                   "Draws of them, of the same digits where all are shown (default: as in the run)",
                   Range{1, 1000}},
                  json_option(&options->json),
                  {"--weights", &options->weights,
                   "A new .npz file: the attention of the deterministic pass, scene by scene "
                   "(locations, glimpse_weights or windows, gate, hidden, alignment, core; "
                   "labels, answers, errors)"},
                  threads_option(&options->threads)},
      .call =
          [options](const Call& call) {
            return say_unless_stopped(
                call, "test scenes",
                [&](const ProgressCallback& on_progress) { return eval(*options, on_progress); });
          },
      .examples = {"saccade eval runs/quickstart/base/seed-1 --draws 5",
                   "saccade eval soft60 --weights attention.npz"}};
}

}  // namespace saccade
