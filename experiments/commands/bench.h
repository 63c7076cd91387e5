#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/files/progress_bar.h"

namespace saccade {

/// `saccade bench`
struct BenchOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  double seconds = 10.0;
  int threads = 0;
  bool profile = false;
  bool json = false;
};

/// Measures training as `run` does it, scenes included, alternating with the machine's arithmetic
/// peak so that a drift in machine speed affects both: a large product (peak) and multiply-adds on
/// registers only (ceiling). Every figure is the median over the turns. `profile` additionally
/// measures where the time of all threads goes; its rows add up to the total.
std::string bench(const BenchOptions& options, const ProgressCallback& on_progress = nullptr);

}  // namespace saccade
