#include "experiments/eval.h"

#include <nlohmann/json.hpp>

#include "experiments/report.h"
#include "experiments/trained.h"

namespace saccade {

std::string eval(const EvalOptions& options) {
  const Trained trained(options.run_folder);
  const Task& task = trained.task;
  const EvaluationConfig& evaluation = task.config.evaluation;
  Workers workers(options.threads);
  Evaluator tester(task.model, task.environments(Split::test),
                   options.scenes > 0 ? options.scenes : evaluation.scenes, evaluation.seed,
                   workers);
  const TestReport report = test_agent(task.model, flat(trained.weights), tester, evaluation);
  if (!options.json) return to_table(report, task.model);
  nlohmann::ordered_json document(to_metrics(report, task.model));
  document["attention/on_target_by_glimpse"] = report.deterministic().on_target_by_glimpse;
  return document.dump(2) + "\n";
}

}  // namespace saccade
