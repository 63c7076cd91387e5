#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"
#include "experiments/files/progress_bar.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/other_scenes.h"

namespace saccade {

/// How runs are tested again, which takes their networks; what is null is not done.
struct RunAgain {
  /// Measures the curves of a run that did not keep them. It may throw std::runtime_error; the run
  /// is then compared without them, and the reason is listed.
  std::function<StopCurves(const FinishedRun& run)> stopping = nullptr;
  /// Writes what read_test() would, of a test on other scenes.
  std::function<void(FinishedRun& run)> test = nullptr;
};

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
/// `again.stopping`. `on_progress` receives the progress over variants.
///
/// With `other_scenes`, `again.test` tests every run on these, and not the scenes of the trainings
/// but these must be the same for all.
///
/// Throws InputError for a folder without runs, if no run is left, if a given folder has only runs
/// of another task than the first run's, if no agent may stop in a way that `stop_target` asks for,
/// and as check_tuned_by(), tune(), chosen_threshold(), with_scenes() and `again.test` do.
Comparison gather(std::span<const std::filesystem::path> folders,
                  std::span<const std::string> tuned_by = {},
                  const ProgressCallback& on_progress = nullptr, const StopTarget& stop_target = {},
                  const RunAgain& again = {}, const SceneOverrides& other_scenes = {});

}  // namespace saccade
