#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/files/progress_bar.h"

namespace saccade {

struct BenchRequest {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  double seconds = 10.0;
  int threads = 0;
  bool profile = false;
};

/// Measures training as `run` does it, scenes included, alternating with the machine's arithmetic
/// peak so that a drift in machine speed affects both: a large product (peak) and multiply-adds on
/// registers only (ceiling). Returns each figure by name, the median over the turns. `profile` adds
/// where the time of all threads goes, under "profile"; its rows add up to the total. The memory is
/// this process's peak after two updates, with what a run holds for its evaluations. Throws
/// InputError for an invalid configuration, data or number of seconds.
nlohmann::ordered_json bench(const BenchRequest& request,
                             const ProgressCallback& on_progress = nullptr);

/// Formats these figures for the screen, one per line, and the profile below.
std::string bench_table(const nlohmann::ordered_json& figures);

}  // namespace saccade
