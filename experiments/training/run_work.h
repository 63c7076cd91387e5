#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace saccade {

/// What a run does from its first update to its summary.
struct RunWork {
  std::int64_t episodes = 0;   // learned from
  std::int64_t validated = 0;  // scenes of all evaluations on the way
  std::int64_t tested = 0;     // scenes of all passes of the final test
};

/// In episodes. A scene that is only played costs about half of one that is learned from.
double all_work(const RunWork& work);
/// The part of it that is done after so many episodes, with their evaluations, and test scenes.
double work_done(const RunWork& work, std::int64_t episodes, std::int64_t tested = 0);

/// How much of a study is left, in episodes as all_work counts them.
class StudyWork {
 public:
  /// `episodes`: of each run. What else a run does is known once it begins; until then it is taken
  /// to be in the same proportion as in those that have.
  explicit StudyWork(std::vector<std::int64_t> episodes);

  /// Run number `run` begins here, or goes on after `episodes`.
  void begin(int run, const RunWork& work);
  void update(int run, std::int64_t episodes);
  void test(int run, std::int64_t scenes);
  /// It is finished or failed. Called for runs that never began here as well.
  void end(int run);

  double left() const;
  /// What was done here.
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
  double known_work_ = 0.0, known_episodes_ = 0.0;  // of all runs that began
};

}  // namespace saccade
