#include "agent/learning/backward.h"

#include "nn/layers.h"

namespace saccade {

BackwardMemory::BackwardMemory(const Model& model, int episodes)
    : dfeatures(zeros<3>(model.num_glimpses(), episodes, model.feature_size())),
      dgated(zeros<2>(episodes, model.gate ? model.feature_size() : 0)) {}

void steps_backward(std::span<float> gradient, BackwardMemory& memory, const Model& model,
                    Rollout& rollout, std::span<const float> parameters, Tensor<3>* seen) {
  CoreMemory& core = rollout.core;
  Look& look = *rollout.look;
  const bool gated = rollout.gate.has_value();
  const bool stepwise = gated || look.differentiable();
  for (int t = core.steps - 1; t >= 0; --t) {
    model.core->step_backward(core, t, parameters);
    if (!stepwise) continue;
    const Matrix dfeature = step(memory.dfeatures, t);
    model.core->feature_backward(gated ? matrix(memory.dgated) : dfeature, core, t, 1, parameters);
    if (gated)
      model.gate->step_backward(dfeature, t > 0 ? step(core.dstate, t - 1) : Matrix{},
                                *rollout.gate, t, matrix(memory.dgated), core.glimpse_feature(t),
                                parameters);
    if (seen != nullptr) copy_rows(step(*seen, t), dfeature);
    if (look.differentiable()) look.step_backward(t, dfeature, parameters);
  }
  if (!stepwise) {
    model.core->feature_backward(matrix(memory.dfeatures), core, 0, core.steps, parameters);
    if (seen != nullptr) copy_rows(matrix(*seen), matrix(memory.dfeatures));
  }
  model.core->weight_backward(gradient, core);
  if (gated)
    model.gate->finish(gradient, *rollout.gate, core.all_glimpse_features(), core.all_states(),
                       parameters);
  look.finish_backward(gradient, matrix(memory.dfeatures), parameters);
}

}  // namespace saccade
