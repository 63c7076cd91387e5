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

/// Returns the seeds that fail: whose error is above twice the median of the variant's errors. With
/// fewer than three seeds none can.
std::vector<std::uint64_t> failing_seeds(const Variant& variant);
/// Whether any variant has seeds enough for one to fail.
bool may_fail(const Comparison& comparison);
/// Returns a sentence that says what a failing seed is, and then which seeds fail.
std::string failing_remark(const Comparison& comparison);

/// Returns sentences that name the variants whose tests had other scenes than their trainings, and
/// what differs.
std::vector<std::string> tested_elsewhere(const Comparison& comparison);

}  // namespace saccade
