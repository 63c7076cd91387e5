#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "experiments/files/progress_bar.h"
#include "experiments/runs/run_folder.h"
#include "experiments/training/run_work.h"

namespace saccade {

/// Told how far a training is, on the thread that trains. This one shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;

  virtual void begin(const RunWork& /*work*/) {}
  /// Text for people, with its line ends.
  virtual void note(const std::string& /*text*/) {}
  /// After every update: cheap.
  virtual void update(std::int64_t /*episodes*/, double /*per_second*/, double /*error*/) {}
  /// At a logging step. `text` is added to the figures.
  virtual void line(std::int64_t /*episodes*/, double /*per_second*/, double /*error*/,
                    const std::string& /*text*/) {}
  /// After that: what metrics.csv has now as its last row.
  virtual void row(const MetricsRow& /*row*/) {}
  /// No update follows.
  virtual void finish() {}
  /// The final test begins. What is returned is told of its scenes, by any thread.
  virtual Told testing() { return nullptr; }
};

/// One training: on a terminal a bar that renews itself - the share that is done, the rate, the
/// error, the last one on the validation scenes, the time left with the final test -, and lines
/// that stay; a bar of the final test.
class RunProgress final : public Progress {
 public:
  explicit RunProgress(Screen screen = screen_of(stdout));

  void begin(const RunWork& work) override { work_ = work; }
  void note(const std::string& text) override;
  void update(std::int64_t episodes, double per_second, double error) override;
  void line(std::int64_t episodes, double per_second, double error,
            const std::string& text) override;
  void row(const MetricsRow& row) override;
  void finish() override;
  Told testing() override;

 private:
  const Screen screen_;
  RunWork work_;
  std::optional<ProgressBar> test_bar_;
  std::optional<double> valid_error_;
  bool bar_shown_ = false;
  Clock::time_point last_draw_;
};

/// Told how the runs of a study go, of which several may go at once: by any of the threads that
/// train them, but one call at a time. This one shows nothing.
class StudyProgress {
 public:
  virtual ~StudyProgress() = default;

  /// How a run came to its end here.
  enum class Ending { found_finished, trained, failed, stopped };

  /// Run number `run` begins, in its folder. What is returned is told of its training.
  virtual std::unique_ptr<Progress> begin_run(int /*run*/, const std::string& /*label*/,
                                              const RunFolder& /*folder*/) {
    return std::make_unique<Progress>();
  }
  /// It ended; `text` says how.
  virtual void end_run(int /*run*/, const std::string& /*text*/, Ending /*ending*/) {}
  /// No run follows.
  virtual void end_study() {}
  /// Text for people, with its line ends, after that.
  virtual void note(const std::string& /*text*/) {}
};

/// "43 %  215040 episodes  5120/s  error  9.21 %  left 0:56"
std::string training_figures(std::int64_t episodes, const RunWork& work, double per_second,
                             double error);
/// Writes text to standard output now.
void show(const std::string& text);

}  // namespace saccade
