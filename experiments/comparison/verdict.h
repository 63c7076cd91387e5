#pragma once

#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// Summarises the errors in a sentence or two: whether each variant is better or worse than the
/// first one, by how many points, or indistinguishable from it. Variants are distinguished if the
/// 95 % interval of the difference excludes 0: over seeds, paired by seed, or of the means if they
/// share no seed; for a single seed over the scenes of the test, which says nothing about other
/// seeds (the sentence says so). Empty for a single variant. See statistics.h for the intervals.
std::vector<std::string> verdict(const Comparison& comparison);

/// Returns whether any interval in it is over scenes.
bool any_over_scenes(const Comparison& comparison);

/// Returns sentences that name the variants whose tests had other scenes than their trainings, and
/// what differs.
std::vector<std::string> tested_elsewhere(const Comparison& comparison);

}  // namespace saccade
