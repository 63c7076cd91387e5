#pragma once

#include <atomic>
#include <string>

#include "base/ranks.h"
#include "experiments/config/config.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"
#include "experiments/task/own_parts.h"
#include "experiments/task/shared_digits.h"
#include "experiments/training/progress.h"
#include "nn/parallel.h"

namespace saccade {

struct TrainingRequest {
  bool resume = false;
  int threads = 0;           // 0: every processor this process may use
  std::string command = {};  // as typed, for command.txt
  bool strict = false;       // refuse init_from if a parameter has another shape
  OwnParts own = {};
};

/// What trainings in the same process share.
struct SharedParts {
  const RunLock& lock;  // of the run's folder
  Workers& workers;
  SharedDatasets& digits;
};

/// Trains, evaluates on schedule and tests at the end, writing the run folder. Returns true when
/// the training is complete; false if `stop` became true, after saving. With `resume` it continues
/// from last.safetensors, or starts anew if there is no checkpoint; a run that was stopped and
/// resumed ends with the same bytes as an uninterrupted one. For a finished run it only reports the
/// table. Throws HeldError if another process is training in the folder, and std::runtime_error if
/// the folder is removed or replaced meanwhile: RunLock::require_own().
///
/// If the program's own scenes, world or reward fail, saves the state after the last complete
/// update and throws OwnPartError.
///
/// Several ranks train together and give the bytes of a single one. Only the first rank reads and
/// writes the folder and reports progress; `stop` on any rank stops all after the same update. If a
/// rank is lost, throws LostRank on the others, after the first rank has saved the last complete
/// state.
bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           Progress& progress, const std::atomic<bool>& stop, Ranks& ranks = alone());
/// The same on one rank with `shared` parts; `request.threads` is ignored.
bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           const SharedParts& parts, Progress& progress, const std::atomic<bool>& stop);

}  // namespace saccade
