#pragma once

#include <cstdint>
#include <span>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "env/environment.h"
#include "experiments/evaluation/attention_weights.h"
#include "nn/parallel.h"

namespace saccade {

/// Options for playing scenes outside an evaluation.
struct PlayRequest {
  int scenes = 1;  // N >= 1, starting at scene 0
  SamplingMode sampling = SamplingMode::deterministic;
  std::uint64_t seed = 0;  // of the policy's noise, together with
  int pass = 0;            // the pass
  int beam = 1;
  KeptFacts facts = {};  // of the scenes
};

/// Plays an agent's episodes and returns all their data, scene by scene: bit for bit those of an
/// Evaluator with the same environments and seed, for any number of threads. Throws InputError as
/// AttentionWeights does.
AttentionWeights play(const Model& model, std::span<const float> parameters,
                      const EnvironmentFactory& environments, const PlayRequest& request,
                      Workers& workers);

}  // namespace saccade
