#pragma once

#include <atomic>
#include <string>

#include "experiments/config/config.h"
#include "experiments/runs/run_folder.h"
#include "experiments/training/progress.h"

namespace saccade {

struct TrainingRequest {
  bool resume = false;
  int threads = 0;      // 0: every processor this process may use
  std::string command;  // as typed, for command.txt
};

/// Trains, evaluates on the schedule and tests at the end, writing the run folder. Returns true
/// when the training is done; false when `stop` became true, after saving. With `resume` it goes on
/// from last.safetensors, or begins where there is nothing yet; a run that was stopped and resumed
/// ends with the same bytes as one that was not.
bool train(const Config& config, const RunFolder& folder, const TrainingRequest& request,
           Progress& progress, const std::atomic<bool>& stop);

}  // namespace saccade
