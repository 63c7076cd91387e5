#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/files/progress_bar.h"
#include "experiments/runs/finished_run.h"

namespace saccade {

/// Compares the runs of the given folders, which are run folders or folders of them, such as a
/// study's. Groups the runs by configuration, ignoring `name`, `seed` and settings that do not
/// affect results, and computes statistics over each group. Runs that are not finished, that were
/// tested on other data or scenes than the first one, or that are duplicates are left out and
/// listed.
///
/// With keys to be tuned by, configurations that differ only in these are the tries of one variant,
/// which is represented by the try with the lowest validation error (see tune()); the tests of the
/// others are not read. `on_progress` receives the progress over variants.
///
/// Throws InputError for a folder without runs, if no run is left, if a given folder has only runs
/// of another task than the first run's, and as check_tuned_by() and tune() do.
Comparison gather(std::span<const std::filesystem::path> folders,
                  std::span<const std::string> tuned_by = {},
                  const ProgressCallback& on_progress = nullptr);

}  // namespace saccade
