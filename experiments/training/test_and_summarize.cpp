#include "experiments/training/test_and_summarize.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "agent/learning/checkpoint.h"
#include "base/output.h"
#include "experiments/evaluation/share_interval.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/runs/trained.h"
#include "experiments/runs/training_log.h"

namespace saccade {

std::string overfitting_word(double train_error, double valid_error, int valid_images) {
  constexpr double kGap = 0.05, kFactor = 2.0;
  if (valid_images < 1) return "";
  double low = 0.0, high = 0.0;
  wilson_interval(valid_error, valid_images, low, high);
  if (!(low > train_error + kGap && low > kFactor * train_error)) return "";
  return fmt::format(
      "It overfits: {:.1f} % error on the training images, {:.1f} % on the {} validation images.\n"
      "  More images, data.augmentation or fewer training.episodes may help.\n",
      100 * train_error, 100 * valid_error, valid_images);
}

void test_and_summarize(const Task& task, const RunFolder& folder, const RunLock* lock,
                        const TrainingFigures& training, Workers& workers, Ranks& ranks,
                        Progress& progress) {
  Tensor<1> weights = zeros<1>(task.model.layout().size());
  double best_progress = 1.0;
  ranks.run_on_all([&] {
    if (!ranks.first()) return;
    const std::filesystem::path path = folder.best_checkpoint();
    const Checkpoint best(path);
    best.restore_averaged(weights, task.model.layout());
    best_progress = progress_of(best, parse_config(best.config_yaml(), path.string()));
  });
  ranks.broadcast(flat(weights));
  ranks.broadcast(std::span(&best_progress, 1));
  AgentConfig agent = task.config.agent;
  agent.glimpse = held_at(agent.glimpse, best_progress);
  const Model model(agent, task.spec);
  const EvaluationConfig& evaluation = task.config.evaluation;
  Evaluator tester(model, task.environments(Split::test), task.test_scenes(evaluation),
                   evaluation.seed, workers, ranks);
  std::optional<Evaluator> validator;
  if (may_stop(model))
    validator.emplace(model, task.environments(Split::valid), evaluation.scenes, evaluation.seed,
                      workers, ranks);
  const TestReport report = test_agent(model, flat(weights), tester, evaluation,
                                       /*attention=*/nullptr, progress.testing(),
                                       {.valid = validator ? &*validator : nullptr});
  if (!ranks.first()) return;

  nlohmann::ordered_json summary{{"status", "finished"}};
  const auto put = [&](Metric metric, const auto& value) { summary[metric.name()] = value; };
  put("episodes", training.episodes);
  put("best_episodes", training.best_episodes);
  put("valid/error", training.best_error);
  const MetricValues figures = to_metrics(report, model);
  for (const auto& [metric, value] : figures) put(metric, value);
  put("attention/on_target_by_glimpse", report.deterministic().on_target_by_glimpse);
  if (const std::vector<double> zooms = zooms_of(report, model); !zooms.empty())
    put("attention/zoom_by_glimpse", zooms);
  put("episode/gflop", model.gflop_per_episode());
  put("episode/canvas_pixels", model.look().canvas_pixels);
  put("time/elapsed", training.elapsed);
  lock->require_own();
  if (task.config.log.tensorboard) log_test(folder, training.episodes, figures);
  replace_text(folder.details(), to_details(report, task.class_names()));
  replace_text(folder.summary(), summary.dump(2) + "\n");
  const std::string overfits =
      task.kind.has_digits
          ? overfitting_word(training.train_error, training.best_error, training.valid_images)
          : "";
  progress.note(fmt::format("\n{}\n", to_text(to_table(report, model))));
  if (!overfits.empty()) progress.remark(overfits);
  progress.note(folder.path().string() + "\n");
}

}  // namespace saccade
