#pragma once

#include <cstddef>

namespace saccade {

/// Calls add(into, from) for the sums of a pairwise tree over `count` blocks, in order: ((0 + 1) +
/// (2 + 3)) + ... Block 0 ends up with the total. The order, and hence every bit, does not depend
/// on threads or processes. When add is called, block `from` holds the sum of blocks from .. 2 from
/// - into - 1.
template <class Add>
void for_each_pair(int count, const Add& add) {
  for (int distance = 1; distance < count; distance *= 2)
    for (int into = 0; into + distance < count; into += 2 * distance) add(into, into + distance);
}

/// Floats of a block that one thread adds at a time, so that this chunk of every block stays in the
/// L2 cache.
constexpr std::size_t kSumChunk = 8192;

/// sum[begin .. end) += other[begin .. end)
inline void add_range(float* __restrict sum, const float* __restrict other, std::size_t begin,
                      std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) sum[i] += other[i];
}

}  // namespace saccade
