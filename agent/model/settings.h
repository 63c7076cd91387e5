#pragma once

#include "agent/spec/config.h"
#include "base/setting.h"
#include "env/scene_config.h"

namespace saccade {

/// The settings of an agent. What has an effect also depends on the task, scene.kind.
Settings describe(AgentConfig& agent, SceneConfig& scene);

}  // namespace saccade
