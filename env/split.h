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

/// The same of an OwnWorld, which gets numbers of 64 bits with a sign: for training from 0, for
/// validation from 2^61 and for the test from 2^62 on, since 2^63 would be negative. The Python
/// package numbers own scenes without an end so, too. Both rules stay: results depend on them.
inline std::uint64_t own_scene_number(Split split, std::uint64_t scene) {
  if (split == Split::train) return scene;
  return scene + (std::uint64_t{1} << (split == Split::valid ? 61 : 62));
}

}  // namespace saccade
