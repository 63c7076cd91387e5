#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ranks.h"

namespace saccade {

struct RunRequest {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  std::filesystem::path out;  // of a run or of a study; empty: runs/<name>/...
  bool resume = false;
  int threads = 0;               // 0: every processor this process may use
  std::optional<int> jobs = {};  // runs of a study at once; default: see default_jobs
  bool quiet = false;            // also suppresses warnings about unused settings
  bool strict = false;           // refuses unused settings
  std::string command;           // as typed, for command.txt
};

/// How run() ended.
struct RunEnd {
  bool done;   // or `stop` became true
  bool saved;  // a run has a checkpoint, from which it can be resumed; not if nothing had begun

  explicit operator bool() const { return done; }
};

/// Trains what a file defines: one experiment (see train), or every run of a study (see run_study),
/// which needs a single rank. What has begun is saved when `stop` becomes true. Throws InputError
/// for `jobs` with a single experiment, for unused settings (`strict`), and for a study on several
/// ranks.
RunEnd run(const RunRequest& request, const std::atomic<bool>& stop, Ranks& ranks = alone());

/// One run of a plan.
struct PlannedRun {
  std::string name;
  bool finished = false;
  std::string fault = {};     // why a run of a study would fail; otherwise empty
  double seconds_left = 0.0;  // estimated
  std::optional<double> resumed_at_episode = {};  // of a run that has begun
};

/// What run() would do.
struct Plan {
  std::string name;
  std::filesystem::path folder;  // of the study; empty: a single run
  std::vector<PlannedRun> runs;
};

/// Lists the runs, their current state, and how long they will take according to a short
/// measurement of each variant. Writes nothing. Throws InputError as run() does: also for a single
/// run that exists, unless it is to be resumed.
Plan plan(const RunRequest& request);
std::string to_text(const Plan& plan);

}  // namespace saccade
