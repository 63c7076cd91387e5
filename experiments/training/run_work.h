#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "experiments/task/task.h"

namespace saccade {

/// The amount of work of a run from its first update to its summary.
struct RunWork {
  std::int64_t episodes = 0;   // for training
  std::int64_t validated = 0;  // scenes of all evaluations during training
  std::int64_t tested = 0;     // scenes of all passes of the final test
};

/// That of a whole run.
RunWork work_of(const Task& task);

/// Total work in units of training episodes. A scene that is only evaluated costs about half as
/// much.
double all_work(const RunWork& work);
/// Returns the part done after `episodes`, including their evaluations, and `tested` test scenes.
double work_done(const RunWork& work, std::int64_t episodes, std::int64_t tested = 0);

/// The remaining work of a study, in episodes as counted by all_work.
class StudyWork {
 public:
  /// `episodes`: for each run. The evaluation work of a run becomes known once it begins; until
  /// then it is estimated from the runs that have begun.
  explicit StudyWork(std::vector<std::int64_t> episodes);

  /// Run number `run` begins in this process, or resumes after `episodes`.
  void begin(int run, const RunWork& work);
  void update(int run, std::int64_t episodes);
  void test(int run, std::int64_t scenes);
  /// The run has finished or failed. Also called for runs that never began in this process.
  void end(int run);

  double left() const;
  /// Work done in this process.
  double done() const;

 private:
  struct Run {
    RunWork work;
    std::int64_t first = -1, episodes = 0, tested = 0;
  };
  static double done_of(const Run& run);

  std::vector<std::int64_t> episodes_;
  std::map<int, Run> running_;
  std::vector<bool> ended_;
  double done_ = 0.0;                               // by runs that have ended
  double known_work_ = 0.0, known_episodes_ = 0.0;  // of all runs that have begun
};

}  // namespace saccade
