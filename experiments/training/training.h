#pragma once

#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "agent/learning/checkpoint.h"
#include "agent/learning/learner.h"
#include "base/clock.h"
#include "experiments/evaluation/evaluator.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"
#include "experiments/runs/training_log.h"
#include "experiments/task/task.h"
#include "experiments/training/progress.h"
#include "experiments/training/test_and_summarize.h"

namespace saccade {

/// One training in its folder, from its first or resumed update to its last.
class Training {
 public:
  /// `lock` is that of the folder, on the rank that writes; else null.
  Training(const Task& task, const RunFolder& folder, const RunLock* lock, Workers& workers,
           Ranks& ranks, Progress& progress)
      : task_(task),
        config_yaml_(to_yaml(task.config)),
        folder_(folder),
        lock_(lock),
        ranks_(ranks),
        learner_(task.model, task.environments(Split::train), task.config.seed, workers, ranks),
        validator_(task.model, task.environments(Split::valid), task.config.evaluation.scenes,
                   task.config.evaluation.seed, workers, ranks),
        progress_(progress) {}

  /// Begins with the weights of `init_from` that fit, where there is one, and says what it took.
  /// Throws InputError where none fits or, if `strict`, one has another shape.
  std::string warm_start(bool strict);
  /// Saves the state before the first update, so that there is always one to resume from.
  void begin() {
    save(folder_.last_checkpoint());
    open_log();
  }
  /// Goes on from the last checkpoint, or from the one before where that is damaged; says so.
  std::string resume();
  /// Gives all ranks the state that the first one begins with.
  void share_state();
  /// Whether what resume() went on from was to be a shorter training.
  bool is_lengthened() const { return lengthened_; }
  /// Saves the state after the last whole update, where this rank writes.
  void rescue() const;
  /// Whether it came to its last update and row before `stop` was heard: after an update, or in an
  /// evaluation, which a resumed training makes then.
  bool train(const std::atomic<bool>& stop);

  std::int64_t episodes() const { return learner_.episodes(); }
  double elapsed() const { return elapsed_before_ + seconds_since(start_); }
  RunWork work() const;
  TrainingFigures figures() const {
    return {episodes(), best_episodes_, best_error_, train_error_, elapsed()};
  }

 private:
  Checkpoint newest_checkpoint(std::string& word) const;
  void save(const std::filesystem::path& path) const;
  void save_last() const;
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
  std::unique_ptr<TrainingLog> log_;  // of the first rank
  bool whole_ = true;                 // whether the state is that after an update

  LossSums window_;                   // since the last row of metrics.csv
  double window_seconds_ = 0.0;       // of training, evaluation apart
  double window_timed_episodes_ = 0;  // of this process: a resumed window began in another
  double elapsed_before_ = 0.0;       // up to the last row of the processes before this one
  Clock::time_point start_ = Clock::now();
  double best_error_ = std::numeric_limits<double>::infinity();
  std::int64_t best_episodes_ = 0;
  double train_error_ = std::numeric_limits<double>::quiet_NaN();  // of the last row, written here
  // The row of the last update, which still lacks its evaluation. On the first rank it is whole.
  std::optional<MetricsRow> unevaluated_;
  bool lengthened_ = false;
};

}  // namespace saccade
