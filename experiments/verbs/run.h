#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// `saccade run`
struct RunOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  std::filesystem::path out;  // of a run or of a study; empty: runs/<name>/...
  bool resume = false;
  int threads = 0;  // 0: every processor this process may use
  bool quiet = false;
  std::string command;  // as typed, for command.txt
};

/// Trains what a file says: one experiment (see train), or every run of a study. A study goes on
/// from where it is: runs that are finished are left as they are, others begin or are resumed, one
/// that fails is told and does not stop the next. It ends with the comparison of its runs in
/// <study>/comparison. Returns false when `stop` became true, after saving. Throws
/// std::runtime_error when runs of a study failed.
bool run(const RunOptions& options, const std::atomic<bool>& stop);

/// `saccade run --dry-run`: the runs there would be, what there is of each, and how long they will
/// take by a short measurement of each variant.
std::string plan(const RunOptions& options);

}  // namespace saccade
