#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// How a run stands, as its folder says; somebody may be training in it meanwhile.
struct RunStatus {
  enum class State {
    done,
    running,
    failed,   // its last training, and nobody is trying again; or what it left cannot be read
    stopped,  // it has a checkpoint to go on from, and nobody does
    waiting,  // it has not begun
  };

  std::filesystem::path folder;
  State state = State::waiting;
  double share = 0.0;            // of its episodes, of those that are logged
  std::optional<double> error;   // done: of the test; else of the last training episodes logged
  std::optional<Holder> holder;  // running: by whom
  std::string message;           // failed: why
};

/// "done", "running", "failed", "stopped", "waiting"
const char* name_of(RunStatus::State state);

/// Reads it without being in the way of who trains.
RunStatus status_of(const RunFolder& folder);

}  // namespace saccade
