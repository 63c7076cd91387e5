#pragma once

#include <optional>

#include "agent/credit/reward.h"
#include "env/own_world.h"
#include "env/scene_source.h"
#include "experiments/config/config.h"
#include "experiments/task/scene_blocks.h"
#include "experiments/task/scene_reader.h"

namespace saccade {

/// What a program gives beside a configuration, and outlives its use; null: nothing.
struct OwnParts {
  const OwnScenes* scenes = nullptr;       // for scene.kind: own
  const OwnWorldMaker* world = nullptr;    // for scene.kind: own_world and own_game
  const RewardFunction* reward = nullptr;  // for reinforce.reward: own
};

/// What environments show of them.
class OwnSources {
 public:
  /// Throws InputError for scenes or a world that are not what scene.kind shows.
  OwnSources(const OwnParts& parts, const Config& config);

  /// Refers to this object.
  SceneSources sources();
  /// The seconds that a training has waited for its scenes, in all its threads; empty without such.
  std::optional<double> seconds_waited() const;

 private:
  std::optional<SceneReaders> readers_;
  const OwnWorldMaker* world_;
};

}  // namespace saccade
