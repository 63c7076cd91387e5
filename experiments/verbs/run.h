#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ranks.h"

namespace saccade {

/// `saccade run`
struct RunOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  std::filesystem::path out;  // of a run or of a study; empty: runs/<name>/...
  bool resume = false;
  int threads = 0;               // 0: every processor this process may use
  std::optional<int> jobs = {};  // runs of a study at once; by default see default_jobs
  bool quiet = false;            // no word on settings that nothing reads, either
  bool strict = false;           // which are refused
  std::string command;           // as typed, for command.txt
};

/// Trains what a file says: one experiment (see train), or every run of a study (see run_study),
/// which several ranks do not. Returns false when `stop` became true, after saving. Throws
/// InputError for `jobs` of one experiment, for settings that nothing reads (`strict`), and for a
/// study of several ranks.
bool run(const RunOptions& options, const std::atomic<bool>& stop, Ranks& ranks = alone());

/// `saccade run --dry-run`: the runs there would be, what there is of each, and how long they will
/// take by a short measurement of each variant.
std::string plan(const RunOptions& options);

}  // namespace saccade
