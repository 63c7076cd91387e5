#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/own_part.h"
#include "nn/tensor.h"

namespace saccade {

/// B episodes of a world that a program gives (scene.kind: own_world, own_game): glimpses
/// themselves, not a canvas. Everything random in an episode depends on the number of its scene
/// alone, so that a run does not depend on the number of threads and can be resumed.
///
/// The order of calls is reset, then look any number of times, in a game with act() after each.
/// Used by one thread at a time, not always the same. Any call may throw anything.
class OwnWorld {
 public:
  virtual ~OwnWorld() = default;

  /// Begins the episodes of these scenes (B). Writes the class of each to labels (B), which hold
  /// -1, unless only a look tells it; games have none.
  virtual void reset(std::span<const std::int64_t> scenes, std::span<int> labels) = 0;
  /// Looks at locations (B, 2) and writes glimpses (B, D). Where it looked elsewhere, as the first
  /// look of a world that begins at a place of its own, replaces the location. Writes to labels (B)
  /// the classes that have become known.
  virtual void look(Matrix locations, Matrix glimpses, std::span<int> labels) = 0;
  /// Of games: takes a step with these actions (B) and writes what it earns (B).
  virtual void act(std::span<const int> actions, std::span<float> rewards) = 0;
};

/// Makes a world of so many episodes. May be called by several threads at once.
using OwnWorldMaker = std::function<std::unique_ptr<OwnWorld>(int episodes)>;

}  // namespace saccade
