#pragma once

#include <span>

namespace saccade {

/// Insertions, deletions and changes that make `truth` of `said` (Levenshtein 1966).
int edit_distance(std::span<const int> said, std::span<const int> truth);

}  // namespace saccade
