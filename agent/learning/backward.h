#pragma once

#include <span>

#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "nn/tensor.h"

namespace saccade {

/// What the way back through the steps of B episodes needs.
struct BackwardMemory {
  BackwardMemory(const Model& model, int episodes);

  Tensor<3> dfeatures;  // (T, B, F): of what the looks wrote
  Tensor<2> dgated;     // (B, F): of what a gate made of it
};

/// The way back through all steps of a rollout that was played, from the gradients of the states in
/// core.dstate, after the losses or logits of its answer and the losses of its look: writes the
/// parameter gradients of core, gate and look. Overwrites core.dstate and memory. `seen` (T, B, F),
/// where it is asked for: the gradients of the features that the looks wrote, before a gate.
void steps_backward(std::span<float> gradient, BackwardMemory& memory, const Model& model,
                    Rollout& rollout, std::span<const float> parameters, Tensor<3>* seen = nullptr);

}  // namespace saccade
