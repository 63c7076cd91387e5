#pragma once

#include <span>
#include <vector>

#include "experiments/comparison/chart.h"
#include "experiments/watch/watched.h"

namespace saccade {

/// Returns a chart for each of a few metrics that any of the runs has logged, against episodes,
/// with a series for each of these runs. At most kMostCurves runs.
std::vector<Chart> live_charts(std::span<const WatchedRun* const> runs);

}  // namespace saccade
