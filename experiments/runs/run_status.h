#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
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

/// All states, in the order in which they are counted.
inline constexpr std::array kRunStates = {RunStatus::State::done, RunStatus::State::running,
                                          RunStatus::State::failed, RunStatus::State::stopped,
                                          RunStatus::State::waiting};

/// "done", "running", "failed", "stopped", "waiting"
const char* name_of(RunStatus::State state);

/// Reads the state without disturbing a running training.
RunStatus status_of(const RunFolder& folder);

/// "5 runs: 1 done, 4 waiting"
std::string counts_of(std::span<const RunStatus> runs);

/// Returns the path of a run relative to the folder in which it was found; its own name if it is
/// that folder.
std::string name_below(const std::filesystem::path& folder, const std::filesystem::path& run);

}  // namespace saccade
