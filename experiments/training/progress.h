#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/runs/run_folder.h"
#include "nn/clock.h"

namespace saccade {

/// Told how far a training is, or the runs of a study. This one shows nothing.
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

  // Of a study:
  /// The next run begins, in its folder.
  virtual void begin_run(const std::string& /*label*/, const RunFolder& /*folder*/) {}
  /// It ended; `text` says how. `trained` is false where there was nothing to do.
  virtual void end_run(const std::string& /*text*/, bool /*failed*/, bool /*trained*/) {}
  /// No run follows.
  virtual void end_study() {}
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

/// The runs of a study: one line each, and one for the whole, which on a terminal stays below.
class StudyProgress final : public Progress {
 public:
  /// `episodes`: of each run.
  StudyProgress(std::string name, std::vector<std::int64_t> episodes, bool quiet);

  void begin_run(const std::string& label, const RunFolder& folder) override;
  void end_run(const std::string& text, bool failed, bool trained) override;
  void end_study() override;

  void begin(std::int64_t total_episodes) override { total_ = total_episodes; }
  void update(std::int64_t episodes, double per_second, double error) override;

 private:
  std::string run_name() const;
  std::string whole() const;

  std::string name_;
  std::vector<std::int64_t> episodes_;
  bool quiet_;
  bool terminal_;
  std::string label_;
  int runs_ = 0;  // begun
  int failed_ = 0;
  std::int64_t total_ = 0, first_ = -1, now_ = 0;          // episodes of the run: all, here, done
  double trained_episodes_ = 0.0, trained_seconds_ = 0.0;  // by this process
  Clock::time_point start_, run_start_, last_draw_;
};

}  // namespace saccade
