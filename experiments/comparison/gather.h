#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/files/progress_bar.h"
#include "experiments/runs/finished_run.h"

namespace saccade {

/// Puts the runs of the given folders - run folders, or folders of them such as a study's - side by
/// side: groups them by what their configurations say but for `name`, `seed` and what changes no
/// result, and takes the figures over each group. Runs that are not finished, that were tested on
/// other data or scenes than the first one, or that are there twice are left out and named.
///
/// With keys to be tuned by, configurations that differ in these alone are the tries of one
/// variant, and the one with the least validation error stands for it (see tune()): the tests of
/// the others are not read. `told` hears of the variants.
///
/// Throws InputError for a folder without runs, when no run is left, when a given folder has
/// nothing but runs of another task than the first run's, and as check_tuned_by() and tune() do.
Comparison gather(std::span<const std::filesystem::path> folders,
                  std::span<const std::string> tuned_by = {}, const Told& told = nullptr);

}  // namespace saccade
