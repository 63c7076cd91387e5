#pragma once

#include <cstdint>

namespace saccade {

/// The splits of a dataset: to train on, to choose the checkpoint by, and to report on, once.
enum class Split { train, valid, test };

/// The number of a split's scene among those of all splits, of 2^62 each: for worlds whose scenes
/// nothing else tells apart, such as the digits of a split would.
inline std::uint64_t scene_number(Split split, std::uint64_t scene) {
  return scene + (std::uint64_t{1} << 62) * static_cast<std::uint64_t>(split);
}

}  // namespace saccade
