#include "experiments/training/test_and_summarize.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/learning/checkpoint.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/files/output.h"

namespace saccade {

void test_and_summarize(const Task& task, const RunFolder& folder, const TrainingFigures& training,
                        Workers& workers, Ranks& ranks, Progress& progress) {
  Tensor<1> weights = zeros<1>(task.model.layout().size());
  ranks.each([&] {
    if (ranks.first())
      Checkpoint(folder.best_checkpoint()).restore_averaged(weights, task.model.layout());
  });
  ranks.broadcast(flat(weights));
  const EvaluationConfig& evaluation = task.config.evaluation;
  Evaluator tester(task.model, task.environments(Split::test), task.test_scenes(evaluation),
                   evaluation.seed, workers, ranks);
  const TestReport report = test_agent(task.model, flat(weights), tester, evaluation);
  if (!ranks.first()) return;

  nlohmann::ordered_json summary{{"status", "finished"}};
  const auto put = [&](Metric metric, const auto& value) { summary[metric.name()] = value; };
  put("episodes", training.episodes);
  put("best_episodes", training.best_episodes);
  put("valid/error", training.best_error);
  for (const auto& [metric, value] : to_metrics(report, task.model)) put(metric, value);
  put("attention/on_target_by_glimpse", report.deterministic().on_target_by_glimpse);
  put("episode/gflop", task.model.gflop_per_episode());
  put("episode/canvas_pixels", task.model.look().canvas_pixels);
  put("time/elapsed", training.elapsed);
  std::vector<std::string> class_names;
  for (int label = 0; label < task.model.num_classes(); ++label)
    class_names.push_back(task.class_name(label));
  replace_text(folder.details(), to_details(report, class_names));
  replace_text(folder.summary(), summary.dump(2) + "\n");
  progress.note(fmt::format("\n{}\n{}\n", to_table(report, task.model), folder.path().string()));
}

}  // namespace saccade
