#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/tuning.h"
#include "experiments/runs/other_scenes.h"

namespace saccade {

/// Returns in what the tests of two runs differ: "evaluation.seed is 1 and 2"; empty if they had
/// the same.
std::string other_test(const FinishedRun& first, const FinishedRun& run);

/// Returns the runs of the given folders by configuration, in seed order. Those that cannot be
/// compared with the first one, and duplicates, are added to `left_out` with the reason. Throws
/// InputError if no run is left, or if a folder has only runs of another task.
std::vector<Runs> group_runs(std::span<const std::filesystem::path> folders,
                             const SceneOverrides& other_scenes, std::vector<LeftOut>& left_out);

/// Reads the tests of the runs that are compared. A run whose test is unreadable or unlike the
/// others is moved to `left_out`, and a variant without runs is removed. With `test` (for other
/// scenes) that tests the runs, and what it throws is passed on.
void read_tests(std::vector<Tuned>& variants, const std::function<void(FinishedRun&)>& test,
                std::vector<LeftOut>& left_out);

/// Throws InputError unless `any`: that nothing is left, and why the first run was left out.
void require_any(bool any, std::span<const std::filesystem::path> folders,
                 std::span<const LeftOut> left_out);

}  // namespace saccade
