#pragma once

#include <atomic>
#include <string>

#include "base/ranks.h"
#include "experiments/config/config.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"
#include "experiments/task/shared_digits.h"
#include "experiments/training/progress.h"
#include "nn/parallel.h"

namespace saccade {

struct TrainingRequest {
  bool resume = false;
  int threads = 0;           // 0: every processor this process may use
  std::string command = {};  // as typed, for command.txt
  bool strict = false;       // no init_from of which parameters have other shapes
};

/// What trainings that go side by side have in common.
struct SharedParts {
  const RunLock& lock;  // of the run's folder
  Workers& workers;
  SharedDigits& digits;
};

/// Trains, evaluates on the schedule and tests at the end, writing the run folder. Returns true
/// when the training is done; false when `stop` became true, after saving. With `resume` it goes on
/// from last.safetensors, or begins where there is nothing yet; a run that was stopped and resumed
/// ends with the same bytes as one that was not. Of a finished run nothing is done again: its table
/// is told. Throws HeldError where the folder is being trained in by somebody else, and
/// std::runtime_error where it is removed or replaced meanwhile: RunLock::require_own().
///
/// Several ranks train it together, with the bytes of one. The first alone reads and writes the
/// folder and is told of; `stop` of any rank stops all after the same update. Throws LostRank on
/// the ranks that are left where one is lost, after the first saved the last whole state.
bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           Progress& progress, const std::atomic<bool>& stop, Ranks& ranks = alone());
/// The same, of one rank, by what is there already; `request.threads` is not looked at.
bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           const SharedParts& parts, Progress& progress, const std::atomic<bool>& stop);

}  // namespace saccade
