#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/model/rollout.h"
#include "tests/agent/agents.h"
#include "tests/support.h"

namespace saccade {

inline constexpr int kLookEpisodes = 4;

// Episodes of an agent. Parameters with the same name and shape are equal in all agents.
struct LookPlayer {
  explicit LookPlayer(const AgentConfig& config, int rollouts = 1)
      : model(config, kTinySpec),
        parameters(zeros<1>(model.layout().size())),
        rollout(model, tiny_environment(kLookEpisodes, rollouts)) {
    for (const Parameter& p : model.layout().parameters()) {
      const auto name = static_cast<std::uint32_t>(std::hash<std::string>{}(p.name));
      RandomStream stream(5, Purpose::initial_weights, 0, name);
      for (float& value : values_of(flat(parameters), p)) value = 0.5F * stream.normal();
    }
  }

  void run(RolloutRequest request) {
    request.first_scene = 3;
    rollout.run(flat(parameters), request);
  }

  /// The class probabilities at the end, (B C).
  std::vector<float> answers() const {
    return values_of(step(rollout.answer->probabilities, rollout.core.steps - 1));
  }

  Model model;
  Tensor<1> parameters;
  Rollout rollout;
};

}  // namespace saccade
