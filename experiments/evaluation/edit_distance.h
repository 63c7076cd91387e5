#pragma once

#include <span>

namespace saccade {

/// Returns the number of insertions, deletions and substitutions that turn `predictions` into
/// `labels` (Levenshtein 1966).
int edit_distance(std::span<const int> predictions, std::span<const int> labels);

}  // namespace saccade
