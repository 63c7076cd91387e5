#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// `saccade bench`
struct BenchOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  double seconds = 10.0;
  int threads = 0;
  bool json = false;
};

/// Measures training as `run` does it, scenes included, beside the machine's arithmetic peak, in
/// turns, so that a machine whose speed drifts slows both. Every figure is the median of the turns.
std::string bench(const BenchOptions& options);

}  // namespace saccade
