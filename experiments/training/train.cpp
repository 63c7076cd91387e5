#include "experiments/training/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "agent/credit/reward.h"
#include "base/error.h"
#include "base/stop.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/run_folder.h"
#include "experiments/task/data_summary.h"
#include "experiments/task/task.h"
#include "experiments/training/finished.h"
#include "experiments/training/same_run.h"
#include "experiments/training/test_and_summarize.h"
#include "experiments/training/training.h"

namespace saccade {
namespace {

// A reward per glimpse comes from intermediate answers that nothing trains.
std::string warning_of_rewards(const AgentConfig& config, const Model& model) {
  const std::string& reward = config.reinforce.reward;
  if (!find_reward(reward).by_step || model.first_decision() == model.num_glimpses() ||
      config.training.step_loss > 0.0)
    return "";
  return fmt::format(
      "warning: reinforce.reward: {} rewards each glimpse by the answer after it, and only the "
      "last answer is trained; training.step_loss=0.5 trains all\n",
      reward);
}

// Scenes of digits are drawn by seed and number alone, with the digits of their split.
std::string warning_of_seeds(const Config& config, const Task& task) {
  if (!task.kind.has_digits || config.seed != config.evaluation.seed) return "";
  return fmt::format(
      "warning: seed: {} is evaluation.seed, too, so the first training scenes have the layouts of "
      "the validation and test scenes, with other digits; another seed has its own\n",
      config.seed);
}

// `waited`: in all threads together.
std::string word_on_waiting(double waited, double seconds, int threads) {
  const double share = seconds > 0.0 ? std::min(1.0, waited / (seconds * threads)) : 0.0;
  return fmt::format("own scenes: the updates waited for them {:.1f} % of their time\n",
                     100 * share);
}

// Trains, and on an error reports where the state was saved.
bool train_watched(Training& training, const Config& config, const RunFolder& folder,
                   const std::atomic<bool>& stop, Ranks& ranks) {
  const std::string last = folder.last_checkpoint().string();
  const std::string best = folder.best_checkpoint().string();
  ranks.watch(stop, [&] { training.rescue(); });
  const struct NoMore {
    Ranks& ranks;
    ~NoMore() { ranks.stop_watching(); }
  } no_more{ranks};
  try {
    return training.train(stop);
  } catch (const NonFiniteError& error) {  // on all ranks
    ranks.announce_end();
    throw NonFiniteError(
        !ranks.first()
            ? ""
            : fmt::format(
                  "{}; the last good checkpoint is {}\n  --resume would meet the same again: begin "
                  "anew with smaller steps from there, or from what was best so far:\n  "
                  "init_from={} training.learning_rate={} --out DIR",
                  error.what(), last, std::filesystem::exists(best) ? best : last,
                  config.agent.training.optimizer.learning_rate / 4));
  } catch (const OwnPartError& error) {
    training.rescue();
    throw OwnPartError(fmt::format("{}; --resume continues the run from {}", error.what(), last));
  } catch (const LostRank& error) {
    ranks.stop_watching();
    training.rescue();
    throw LostRank(fmt::format("rank {}: {}; --resume continues the run from {}", ranks.rank(),
                               error.what(), last));
  }
}

// Returns whether the run is finished already; if so, reports its result.
bool shows_finished(const Config& config, const RunFolder& folder, const TrainingRequest& request,
                    int threads, Progress& progress, Ranks& ranks) {
  bool finished = false;
  ranks.run_on_all([&] {
    if (!ranks.first() || !request.resume || !folder.exists()) return;
    folder.require_no_links();
    if (!is_finished(folder)) return;
    restore_lost_files(folder, config, request.command, ranks.count(), threads);
    finished = is_done(folder, config);
    if (!finished) return;
    progress.note(fmt::format("{} is finished. Its results:\n\n{}\n{}\n", config.name,
                              table_of_finished(folder, config), folder.path().string()));
  });
  return ranks.any(finished);
}

// `workers` and the shared dataset are given; the first rank holds the folder with `lock`.
bool train_in(const Config& config, const RunFolder& folder, const RunLock* lock,
              const TrainingRequest& request, Workers& workers, SharedDatasets& digits,
              Progress& progress, const std::atomic<bool>& stop, Ranks& ranks) {
  if (shows_finished(config, folder, request, workers.threads(), progress, ranks)) return true;
  bool resumes = false;
  OwnSources own(request.own, config);  // outlives the environments
  std::optional<Task> made;
  std::optional<Training> training;
  const auto prepare = [&] {
    if (ranks.first()) {
      resumes = request.resume && folder.exists();
      if (resumes)
        folder.require_no_links();
      else
        folder.require_new();  // before reading the data
      std::filesystem::remove(folder.failure());
    }
    made.emplace(config, &digits, own.sources());
    if (config.record.every > 0) require_format(config.record.format, "record.format");
    training.emplace(*made, folder, lock, workers, ranks, progress, request.own.reward);
  };
  if (!unless_stopped(stop, [&] { ranks.run_on_all(prepare); })) return false;
  const Task& task = *made;
  require_same_run(ranks, config, task.digits.checksums);
  std::string word;
  ranks.run_on_all([&] {
    if (!ranks.first()) return;
    const std::string meta = meta_json(ranks.count(), workers.threads(), task.digits.checksums);
    if (resumes) {
      word = training->resume();
      if (training->is_lengthened()) {
        folder.set_test_aside();
        // Before config.yaml: a folder that says it is longer must not continue as the shorter run.
        training->save_last();
      }
      folder.restore_words(config, request.command, meta);
    } else {
      word = training->warm_start(request.strict);
      lock->require_own();
      if (const auto aside = folder.set_metrics_aside())
        word += fmt::format(
            "{}: had no checkpoint to continue from and starts again; its rows are in {}\n",
            folder.path().string(), aside->string());
      folder.create(config, request.command, meta);
      training->begin();
    }
  });
  training->share_state();
  const auto remark = [&](const std::string& text) {
    if (!text.empty()) progress.remark(text);
  };
  remark(word);
  progress.note(fmt::format("{}: {} parameters, {:.2f} MFLOP an episode, {}{} threads, into {}\n",
                            config.name, task.model.layout().count(),
                            task.model.gflop_per_episode() * 1e3,
                            ranks.alone() ? "" : fmt::format("{} ranks of ", ranks.count()),
                            workers.threads(), folder.path().string()));
  if (task.kind.has_digits && digits_are_own(config.data.source))
    progress.note(data_summary(config, task.digits));
  remark(warning_of_rewards(config.agent, task.model));
  remark(warning_of_seeds(config, task));
  if (!train_watched(*training, config, folder, stop, ranks)) return false;
  const TrainingFigures figures = training->figures();
  if (const auto waited = own.seconds_waited())
    progress.note(word_on_waiting(*waited, training->seconds_of_updates(), workers.threads()));
  training.reset();  // the test needs its memory
  return unless_stopped(
      stop, [&] { test_and_summarize(task, folder, lock, figures, workers, ranks, progress); });
}

}  // namespace

bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           Progress& progress, const std::atomic<bool>& stop, Ranks& ranks) {
  std::optional<RunLock> lock;
  ranks.run_on_all([&] {
    if (!ranks.first()) return;
    // Before even a lock is written to the folder.
    if (!request.resume)
      folder.require_new();
    else if (std::filesystem::is_directory(folder.path()))
      folder.require_no_links();
    lock.emplace(folder.path(), request.command);
  });
  Workers workers(request.threads);
  SharedDatasets digits;
  return train_in(config, folder, lock ? &*lock : nullptr, request, workers, digits, progress, stop,
                  ranks);
}

bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           const SharedParts& parts, Progress& progress, const std::atomic<bool>& stop) {
  return train_in(config, folder, &parts.lock, request, parts.workers, parts.digits, progress, stop,
                  alone());
}

}  // namespace saccade
