#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "experiments/comparison/comparison.h"

namespace saccade {

/// The runs of one configuration, one per seed, in seed order. Not empty.
using Runs = std::vector<FinishedRun>;

/// A variant at one value of the tuned keys, and how that value was chosen (see Variant).
struct Tuned {
  Runs runs;
  std::vector<Try> tries = {};
  std::vector<std::uint64_t> seeds = {};
};

/// Throws InputError for a key of `--tuned-by` that is unknown (with the nearest one), repeated, or
/// no property of a variant, such as a name, a seed or a path.
void check_tuned_by(std::span<const std::string> keys);

/// Groups configurations that differ only in `keys` as the tries of one variant, in the order of
/// their first runs, and chooses for each variant the try with the lowest validation error: the
/// lowest of each run, averaged over the seeds that all tries of the variant have; the first of
/// equals. Does not read any test. Without keys every configuration is a variant.
///
/// Throws InputError for a key in which no two runs differ. Throws it too, naming the variants and
/// their tries, unless all have the same number of tries, at least two, and a seed in common; the
/// message lists what was left out, which may be the cause.
std::vector<Tuned> tune(std::vector<Runs> configurations, std::span<const std::string> keys,
                        std::span<const LeftOut> left_out);

}  // namespace saccade
