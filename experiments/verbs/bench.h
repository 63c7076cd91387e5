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

/// Measures training as `run` does it, scenes included, beside the machine's arithmetic peak, in
/// turns, so that a machine whose speed drifts slows both: a large product (peak) and multiply-adds
/// on registers alone (ceiling). Every figure is the median of the turns. `profile` measures apart
/// where the time of all threads goes; its rows add up to it.
std::string bench(const BenchOptions& options, const Told& told = nullptr);

}  // namespace saccade
