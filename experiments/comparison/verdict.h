#pragma once

#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// What the errors say, a sentence or two: whether each variant is better or worse than the first
/// one, by how many points, or not told apart from it. Told apart are those whose difference has a
/// 95 % interval without 0: over seeds, paired by these, or of the means where no seed is the same;
/// of one seed over the scenes of the test, which says nothing of other seeds, as is told, too.
/// Nothing of one variant. See statistics.h for the intervals.
std::vector<std::string> verdict(const Comparison& comparison);

/// Whether an interval of it is over scenes.
bool any_over_scenes(const Comparison& comparison);

}  // namespace saccade
