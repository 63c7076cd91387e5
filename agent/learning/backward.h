#pragma once

#include <span>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "nn/tensor.h"

namespace saccade {

/// Workspace of the backward pass through the steps of B episodes.
struct BackwardMemory {
  BackwardMemory(const Model& model, int episodes);

  Tensor<3> dfeatures;  // (T, B, F): gradients of the features that the looks wrote
  Tensor<2> dgated;     // (B, F): gradient of a gate's output
};

/// The backward pass through all steps of a finished rollout, starting from the gradients of the
/// states in core.dstate. Call it after the losses or logits of the answer and the losses of the
/// look. Overwrites the parameter gradients of core, gate and look; destroys core.dstate and
/// memory. `seen` (T, B, F), if not null, receives the gradients of the features that the looks
/// wrote, before a gate.
void steps_backward(std::span<float> gradient, BackwardMemory& memory, const Model& model,
                    Rollout& rollout, std::span<const float> parameters, Tensor<3>* seen = nullptr);

}  // namespace saccade
