#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "experiments/training/progress.h"
#include "nn/clock.h"
#include "nn/printable.h"

namespace saccade {

/// The runs of a study: a line for each that ends, and one for the whole. On a terminal that one
/// stays below, under a line for each run that is trained now.
class StudyScreen final : public StudyProgress {
 public:
  /// `episodes`: of each run.
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
    std::int64_t total = 0, first = -1, now = 0;  // episodes: all, here, done
    double per_second = 0.0, error = 0.0;
    Clock::time_point start = Clock::now();
  };

  void update(int run, std::int64_t episodes, double per_second, double error);
  void draw(const std::string& lines);
  std::string name_of(int run) const;
  std::string whole() const;

  const std::string name_;
  const std::vector<std::int64_t> episodes_;
  const bool terminal_;

  std::mutex mutex_;
  std::map<int, Training> running_;
  int ended_ = 0, failed_ = 0;
  double left_ = 0.0;     // episodes of the runs that have not ended
  double trained_ = 0.0;  // episodes, here, of those that have
  Clock::time_point start_ = Clock::now(), last_draw_;
  Clock::time_point first_training_ = Clock::time_point::max();
};

}  // namespace saccade
