#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/scene_facts.h"

namespace saccade {

/// N scenes as a program gives them.
struct SceneBlock {
  std::vector<std::uint8_t> canvases;  // (N, channels, rows, cols)
  std::vector<int> labels;             // (N), 0 .. C - 1
  std::vector<Box> boxes;              // (N, K): where the digits are; of no width: none
  int boxes_per_scene = 0;             // K, 0 .. kMaxDigits
};

/// Scenes that a program gives, in blocks: what a user writes to train on scenes of their own.
///
/// A scene depends on its number alone. It is made anew whenever it is asked for: after a stop from
/// the first one that was not trained on, and in each evaluation.
class SceneBlocks {
 public:
  virtual ~SceneBlocks() = default;

  /// The number of different scenes, 0 .. size - 1, or 0 if there is no end to them.
  virtual std::int64_t size() const = 0;

  /// Writes the scenes of these numbers, in this order, into `block`, whose memory may be that of
  /// an earlier one. Called by one thread at a time, not always the same. May throw anything.
  virtual void read(std::span<const std::int64_t> numbers, SceneBlock& block) = 0;
};

/// Those of each split.
struct OwnScenes {
  SceneBlocks& train;
  SceneBlocks& valid;
  SceneBlocks& test;
};

}  // namespace saccade
