#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/own_part.h"
#include "env/own_world.h"
#include "env/scene_facts.h"

namespace saccade {

/// Finished scenes by their number, made outside of the environments that show them (scene.kind:
/// own). Scene n has the same bits whenever and by whomever it is asked for, so that a run does not
/// depend on the number of threads and can be resumed.
class SceneSource {
 public:
  /// Receives scene first + i: its canvas (channels, rows, cols), valid during the call, and what
  /// is true of it.
  using Visitor =
      std::function<void(int i, std::span<const std::uint8_t> canvas, const SceneFacts& facts)>;

  virtual ~SceneSource() = default;

  /// Calls visit for the scenes first .. first + count - 1, in order, on the calling thread. Waits
  /// until they are there. May be called by several threads at once. Throws OwnPartError if the
  /// source fails.
  virtual void visit(std::uint64_t first, int count, const Visitor& visit) = 0;
};

/// What a program gives to the environments of a task: the scenes of each split, or one world,
/// which numbers the scenes of all splits. Null: none. Must outlive the environments.
struct SceneSources {
  SceneSource* train = nullptr;
  SceneSource* valid = nullptr;
  SceneSource* test = nullptr;
  const OwnWorldMaker* world = nullptr;
};

}  // namespace saccade
