#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/runs/finished_run.h"

namespace saccade {

/// Puts the runs of the given folders - run folders, or folders of them such as a study's - side by
/// side: groups them by what their configurations say but for `name`, `seed` and what changes no
/// result, and takes the figures over each group. Runs that are not finished, that were tested on
/// other data or scenes than the first one, or that are there twice are left out and named.
///
/// Throws InputError for a folder without runs, when no run is left, or when a given folder has
/// nothing but runs of another task than the first run's.
Comparison gather(std::span<const std::filesystem::path> folders);

}  // namespace saccade
