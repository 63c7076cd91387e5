#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "experiments/files/progress_bar.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/run_folder.h"
#include "experiments/training/run_work.h"

namespace saccade {

/// A training while it reports a row, between two updates.
class TrainingHandle {
 public:
  virtual ~TrainingHandle() = default;

  /// Trained so far.
  virtual std::int64_t episodes() const = 0;
  /// Of the next update: what the schedule gives, times the factor.
  virtual double learning_rate() const = 0;
  virtual double learning_rate_factor() const = 0;
  /// Multiplies the learning rate of all further updates, also of a resumed training: checkpoints
  /// keep it. Throws InputError for a factor outside kRateFactor, or if several ranks train.
  virtual void set_learning_rate_factor(double factor) = 0;
  /// Saves the state as the last checkpoint, from which the training can be resumed, and returns
  /// its path. Throws std::runtime_error naming a file that cannot be written.
  virtual std::filesystem::path save_last() const = 0;
  /// Writes the averaged weights, as agents are saved (save_averaged in
  /// agent/learning/checkpoint.h).
  virtual void save_agent(const std::filesystem::path& path) const = 0;
};

/// Receives the progress of a training, on the training thread. This base class shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;

  virtual void begin(const RunWork& /*work*/) {}
  /// Text for display, including line ends.
  virtual void note(const std::string& /*text*/) {}
  /// A note that a study shows, too: a warning, or from what a run continues.
  virtual void remark(const std::string& text) { note(text); }
  /// Called after every update; must be cheap.
  virtual void update(std::int64_t /*episodes*/, double /*per_second*/, double /*error*/) {}
  /// Called at a logging step. `text` is appended to the values.
  virtual void line(std::int64_t /*episodes*/, double /*per_second*/, double /*error*/,
                    const std::string& /*text*/) {}
  /// Called after line(), with the last row written to metrics.csv. `training` is valid during the
  /// call, on any thread that the training thread waits for.
  virtual void row(const MetricsRow& /*row*/, TrainingHandle& /*training*/) {}
  /// No update follows.
  virtual void finish() {}
  /// Called when the final test begins. The returned callback receives its progress over scenes,
  /// from any thread.
  virtual ProgressCallback testing() { return nullptr; }
};

/// Shows one training. On a terminal a bar that is redrawn, with the share done, speed, error, last
/// validation error, and the time left including the final test, plus permanent lines; then a bar
/// for the final test.
class RunProgress final : public Progress {
 public:
  explicit RunProgress(Screen screen = screen_of(stdout));

  void begin(const RunWork& work) override { work_ = work; }
  void note(const std::string& text) override;
  void update(std::int64_t episodes, double per_second, double error) override;
  void line(std::int64_t episodes, double per_second, double error,
            const std::string& text) override;
  void row(const MetricsRow& row, TrainingHandle& training) override;
  void finish() override;
  ProgressCallback testing() override;

 private:
  const Screen screen_;
  RunWork work_;
  std::optional<ProgressBar> test_bar_;
  std::optional<double> valid_error_;
  bool bar_shown_ = false;
  Clock::time_point last_draw_;
};

/// Receives the progress of the runs of a study, several of which may run at once. Called by any of
/// their threads, one call at a time. This base class shows nothing.
class StudyProgress {
 public:
  virtual ~StudyProgress() = default;

  /// How a run ended in this process.
  enum class Ending { found_finished, trained, failed, stopped };

  /// Run number `run` begins in its folder. The returned object receives the progress of its
  /// training.
  virtual std::unique_ptr<Progress> begin_run(int /*run*/, const std::string& /*label*/,
                                              const RunFolder& /*folder*/) {
    return std::make_unique<Progress>();
  }
  /// The run has ended; `text` describes the result.
  virtual void end_run(int /*run*/, const std::string& /*text*/, Ending /*ending*/) {}
  /// No further run follows.
  virtual void end_study() {}
  /// Text for display, including line ends, before the first run or after end_study().
  virtual void note(const std::string& /*text*/) {}
};

/// "43 %  215040 episodes  5120/s  error  9.21 %  left 0:56"
std::string training_figures(std::int64_t episodes, const RunWork& work, double per_second,
                             double error);
/// Writes text to standard output and flushes it.
void show(const std::string& text);

}  // namespace saccade
