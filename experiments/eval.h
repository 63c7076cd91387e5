#pragma once

#include <filesystem>
#include <string>

namespace saccade {

/// `saccade eval`
struct EvalOptions {
  std::filesystem::path run_folder;
  int scenes = 0;  // 0: as the run's configuration says
  bool json = false;
  int threads = 0;
};

/// Tests the best checkpoint of a run (its last, where there is no best yet) on the test set and
/// returns the table, or with `json` one document whose keys are the metric names.
std::string eval(const EvalOptions& options);

}  // namespace saccade
