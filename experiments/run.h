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
  std::filesystem::path out;  // empty: the default run folder
  bool resume = false;
  int threads = 0;  // 0: every processor this process may use
  bool quiet = false;
  std::string command;  // as typed, for command.txt
};

/// Trains, evaluates on the schedule and tests at the end, writing the run folder. Returns true
/// when the training is done; false when `stop` became true, after saving. With `resume` it goes on
/// from last.safetensors, or begins where there is nothing yet; a run that was stopped and resumed
/// ends with the same bytes as one that was not.
bool run(const RunOptions& options, const std::atomic<bool>& stop);

}  // namespace saccade
