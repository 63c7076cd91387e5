#pragma once

#include <span>

namespace saccade {

/// Returns the number of insertions, deletions and substitutions that turn `said` into `truth`
/// (Levenshtein 1966).
int edit_distance(std::span<const int> said, std::span<const int> truth);

}  // namespace saccade
