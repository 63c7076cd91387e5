#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/runs/study.h"
#include "experiments/training/progress.h"

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

/// Trains what a file says: one experiment (see train), or every run of a study (see run_study).
/// Returns false when `stop` became true, after saving.
bool run(const RunOptions& options, const std::atomic<bool>& stop);

/// The folder of a study: `out`, or runs/<name>.
std::filesystem::path folder_of(const Study& study, const RunOptions& options);

/// Trains every run of a study that was read, which goes on from where it is: runs that are
/// finished are left as they are, others begin or are resumed, one that fails is told and does not
/// stop the next. It ends with the comparison of its runs in <study>/comparison. Of `options`,
/// `config`, `overrides` and `resume` are not looked at. Returns false when `stop` became true,
/// after saving. Throws std::runtime_error when runs failed.
bool run_study(const Study& study, const RunOptions& options, Progress& progress,
               const std::atomic<bool>& stop);

/// `saccade run --dry-run`: the runs there would be, what there is of each, and how long they will
/// take by a short measurement of each variant.
std::string plan(const RunOptions& options);

}  // namespace saccade
