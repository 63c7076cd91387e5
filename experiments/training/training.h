#pragma once

#include <atomic>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/learning/checkpoint.h"
#include "agent/learning/learner.h"
#include "base/clock.h"
#include "experiments/evaluation/evaluator.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_folder.h"
#include "experiments/runs/training_log.h"
#include "experiments/task/task.h"
#include "experiments/training/progress.h"
#include "experiments/training/test_and_summarize.h"

namespace saccade {

/// Copies the weights of a trained agent that fit. Throws InputError if there is no such agent or
/// none fits.
SharedParameters copy_initial(const std::string& init_from, Learner& learner);

/// One training in its folder, from its first or resumed update to its last.
class Training final : public TrainingHandle {
 public:
  /// `lock` is that of the folder on the rank that writes, otherwise null. `own_reward` as in
  /// Learner.
  Training(const Task& task, const RunFolder& folder, const RunLock* lock, Workers& workers,
           Ranks& ranks, Progress& progress, const RewardFunction* own_reward = nullptr)
      : task_(task),
        config_yaml_(to_yaml(task.config)),
        folder_(folder),
        lock_(lock),
        ranks_(ranks),
        learner_(task.model, task.environments(Split::train), task.config.seed, workers, ranks,
                 own_reward),
        validator_(task.model, task.environments(Split::valid), task.config.evaluation.scenes,
                   task.config.evaluation.seed, workers, ranks),
        progress_(progress) {}

  /// Starts from the weights of `init_from` that fit, if it is set, and returns which it used.
  /// Throws InputError if none fits or, with `strict`, if one has another shape.
  std::string warm_start(bool strict);
  /// Saves the state before the first update, so that there is always a checkpoint to resume from.
  void begin() {
    save(folder_.last_checkpoint());
    open_log();
  }
  /// Resumes from the last checkpoint, or from the previous one if the last is damaged; returns a
  /// description.
  std::string resume();
  /// Copies the initial state of the first rank to all ranks.
  void share_state();
  /// Returns whether the run that resume() continued was configured to be shorter.
  bool is_lengthened() const { return lengthened_; }
  /// Saves the state after the last complete update, on the rank that writes.
  void rescue() const;
  /// Returns whether the last update and row were reached before `stop` became true, which is
  /// checked after each update and during evaluations; a resumed training makes up an interrupted
  /// evaluation.
  bool train(const std::atomic<bool>& stop);

  /// The time that the updates of this process took, without evaluations.
  double seconds_of_updates() const { return seconds_of_updates_; }
  double elapsed() const { return elapsed_before_ + seconds_since(start_); }
  std::int64_t episodes() const override { return learner_.episodes(); }
  double learning_rate() const override {
    return learner_.optimizer.learning_rate(learner_.progress());
  }
  double learning_rate_factor() const override { return learner_.optimizer.rate_factor; }
  void set_learning_rate_factor(double factor) override;
  std::filesystem::path save_last() const override;
  void save_agent(const std::filesystem::path& path) const override;
  TrainingFigures figures() const {
    return {episodes(), best_episodes_, best_error_, valid_images_, train_error_, elapsed()};
  }

 private:
  Checkpoint newest_checkpoint(std::string& word) const;
  std::map<std::string, std::string> notes() const;
  void save(const std::filesystem::path& path) const;
  void save_snapshot() const;
  MetricsRow row_of(const UpdateReport& report);
  void log(MetricsRow row, bool evaluate);
  bool log_unless_stopped(const std::atomic<bool>& stop);
  void evaluate(MetricsRow& row);
  void open_log();
  std::string word_on_length(std::int64_t episodes_before) const;
  bool is_due(std::int64_t every) const;
  void record_if_due() const;
  void record() const;
  std::filesystem::path record(const std::string& format) const;

  const Task& task_;
  const std::string config_yaml_;
  const RunFolder& folder_;
  const RunLock* const lock_;
  Ranks& ranks_;
  Learner learner_;
  Evaluator validator_;
  Progress& progress_;
  std::unique_ptr<TrainingLog> log_;  // on the first rank
  bool whole_ = true;                 // false in the middle of an update

  LossSums window_;              // sums since the last row of metrics.csv
  double window_seconds_ = 0.0;  // of training, without evaluation
  double seconds_of_updates_ = 0.0;
  double window_timed_episodes_ = 0;  // in this process: a resumed window began in another one
  double elapsed_before_ = 0.0;       // until the last row of earlier processes
  Clock::time_point start_ = Clock::now();
  double best_cost_ = std::numeric_limits<double>::infinity();  // error, and the price of looks
  double best_error_ = std::numeric_limits<double>::infinity();
  std::int64_t best_episodes_ = 0;
  int valid_images_ = 0;  // of every evaluation, which all show the same scenes; 0: none here yet
  double train_error_ = std::numeric_limits<double>::quiet_NaN();  // of the last row written
  // The row of the last update, if its evaluation is still missing. Complete only on the first
  // rank.
  std::optional<MetricsRow> unevaluated_;
  bool lengthened_ = false;
};

}  // namespace saccade
