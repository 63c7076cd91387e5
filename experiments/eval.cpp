#include "experiments/eval.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/checkpoint.h"
#include "experiments/report.h"
#include "experiments/run_folder.h"
#include "experiments/task.h"
#include "nn/error.h"

namespace saccade {

std::string eval(const EvalOptions& options) {
  const RunFolder folder(options.run_folder);
  const bool has_best = std::filesystem::exists(folder.best_checkpoint());
  if (!has_best && !std::filesystem::exists(folder.last_checkpoint()))
    throw InputError(fmt::format("{}: no run folder with a checkpoint (looked for {})",
                                 options.run_folder.string(), folder.best_checkpoint().string()));
  const Checkpoint checkpoint(has_best ? folder.best_checkpoint() : folder.last_checkpoint());
  const Config config = parse_config(checkpoint.config_yaml(), folder.best_checkpoint().string());
  const Task task(config);
  Tensor<1> weights = zeros<1>(task.model.layout().size());
  checkpoint.restore_averaged(weights, task.model.layout());

  Workers workers(options.threads);
  const int scenes = options.scenes > 0 ? options.scenes : config.evaluation.scenes;
  Evaluator tester(task.model, task.environments(task.test_scenes), scenes, config.evaluation.seed,
                   workers);
  const TestReport report =
      test_agent(task.model, flat(weights), tester, config.evaluation.rollouts);
  if (!options.json) return to_table(report);
  nlohmann::ordered_json document(to_metrics(report));
  document["attention/on_target_by_glimpse"] = report.deterministic.on_target_by_glimpse;
  return document.dump(2) + "\n";
}

}  // namespace saccade
