#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/printable.h"
#include "experiments/training/progress.h"

namespace saccade {

/// Shows the runs of a study: a line for each run that ends, lines for what is remarked on single
/// runs, and one for the whole study. On a terminal the latter stays at the bottom, below a line
/// for each run in training.
class StudyScreen final : public StudyProgress {
 public:
  /// `episodes`: for each run.
  StudyScreen(const std::string& name, std::vector<std::int64_t> episodes);

  std::unique_ptr<Progress> begin_run(int run, const std::string& label,
                                      const RunFolder& folder) override;
  void end_run(int run, const std::string& text, Ending ending) override;
  void end_study() override;
  void note(const std::string& text) override { show(printable(text)); }

 private:
  class Row;
  struct Training {
    std::string label;
    RunWork work;
    std::int64_t episodes = -1;  // trained; -1: none yet
    double per_second = 0.0, error = 0.0;
    double tested = -1.0;  // share of the final test done; -1: not begun
    Clock::time_point start = Clock::now();
  };

  void begin(int run, const RunWork& work);
  void update(int run, std::int64_t episodes, double per_second, double error);
  void remark(int run, const std::string& text);
  void test(int run, std::int64_t scenes, std::int64_t total);
  void redraw();
  void draw(const std::string& lines);
  std::string name_of(int run) const;
  static std::string figures(const Training& training);
  std::string whole() const;

  const std::string name_;
  const int runs_;
  const bool terminal_;

  std::mutex mutex_;
  std::map<int, Training> running_;
  int ended_ = 0, failed_ = 0;
  StudyWork work_;
  Clock::time_point start_ = Clock::now(), last_draw_;
  Clock::time_point first_training_ = Clock::time_point::max();
};

}  // namespace saccade
