#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// State of a run according to its folder; it may be in training at the same time.
struct RunStatus {
  enum class State {
    done,
    running,
    failed,   // its last training failed and none is running, or its files cannot be read
    stopped,  // it has a checkpoint to resume from, and no training is running
    waiting,  // it has not started
  };

  std::filesystem::path folder;
  State state = State::waiting;
  double share = 0.0;            // logged episodes as a share of all
  std::optional<double> error;   // done: of the test; otherwise of the last logged training
                                 // episodes
  std::optional<Holder> holder;  // running: who trains
  std::string message;           // failed: the reason
};

/// "done", "running", "failed", "stopped", "waiting"
const char* name_of(RunStatus::State state);

/// Reads the state without disturbing a running training.
RunStatus status_of(const RunFolder& folder);

}  // namespace saccade
