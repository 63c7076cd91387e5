#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// The runs of one configuration, one a seed, in the order of the seeds. Not empty.
using Runs = std::vector<FinishedRun>;

/// A variant as one value of the tuned keys, and how that was chosen (see Variant).
struct Tuned {
  Runs runs;
  std::vector<Try> tries = {};
  std::vector<std::uint64_t> seeds = {};
};

/// Throws InputError for a key of `--tuned-by` that is unknown (with the nearest one), named twice,
/// or makes no variants.
void check_tuned_by(std::span<const std::string> keys);

/// Puts configurations that differ in `keys` alone together as the tries of one variant, in the
/// order of their first runs, and chooses of each the try with the least validation error: a run's
/// least, mean over the seeds that all tries of the variant have; of equals the first. Reads
/// nothing of a test. Without keys every configuration is a variant.
///
/// Throws InputError for a key in which no two runs differ, and naming the variants and their tries
/// where they have not all the same number of two and more - with what was left out, which may be
/// why - or no seed in common.
std::vector<Tuned> tune(std::vector<Runs> configurations, std::span<const std::string> keys,
                        std::span<const LeftOut> left_out);

}  // namespace saccade
