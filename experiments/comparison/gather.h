#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/files/progress_bar.h"
#include "experiments/runs/finished_run.h"

namespace saccade {

/// Measures the curves of a run that did not keep them. It may throw std::runtime_error; the run is
/// then compared without them, and the reason is listed.
using MeasureStopping = std::function<StopCurves(const FinishedRun& run)>;

/// Compares the runs of the given folders, which are run folders or folders of them, such as a
/// study's. Groups the runs by configuration, ignoring `name`, `seed` and settings that do not
/// affect results, and computes statistics over each group. Runs that are not finished, that were
/// tested on other data or scenes than the first one, or that are duplicates are left out and
/// listed.
///
/// With keys to be tuned by, configurations that differ only in these are the tries of one variant,
/// which is represented by the try with the lowest validation error (see tune()); the tests of the
/// others are not read. `stop_target` chooses at which threshold each run stops, on its own
/// validation scenes; runs of agents that may stop and that did not keep how they do are given to
/// `measure`, if there is one. `on_progress` receives the progress over variants.
///
/// Throws InputError for a folder without runs, if no run is left, if a given folder has only runs
/// of another task than the first run's, if no agent may stop in a way that `stop_target` asks for,
/// and as check_tuned_by(), tune() and chosen_threshold() do.
Comparison gather(std::span<const std::filesystem::path> folders,
                  std::span<const std::string> tuned_by = {},
                  const ProgressCallback& on_progress = nullptr, const StopTarget& stop_target = {},
                  const MeasureStopping& measure = nullptr);

}  // namespace saccade
