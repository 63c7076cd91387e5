#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiments/runs/run_folder.h"
#include "nn/clock.h"

namespace saccade {

/// Told how far a training is, on the thread that trains. This one shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;

  virtual void begin(std::int64_t /*total_episodes*/) {}
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
};

/// One training: a bar that redraws itself on a terminal, and lines that stay.
class RunProgress final : public Progress {
 public:
  RunProgress();

  void begin(std::int64_t total_episodes) override { total_ = total_episodes; }
  void note(const std::string& text) override;
  void update(std::int64_t episodes, double per_second, double error) override;
  void line(std::int64_t episodes, double per_second, double error,
            const std::string& text) override;
  void finish() override;

 private:
  std::int64_t total_ = 0;
  bool terminal_;
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
std::string training_figures(std::int64_t episodes, std::int64_t total, double per_second,
                             double error);
/// How much of `total` is done, as a bar of blocks.
std::string progress_bar(std::int64_t done, std::int64_t total);
/// Writes text to standard output now.
void show(const std::string& text);
/// For a terminal: back to the beginning of the line, which is cleared.
inline constexpr const char* kClearLine = "\r\x1b[2K";

}  // namespace saccade
