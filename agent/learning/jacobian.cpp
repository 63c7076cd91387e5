#include "agent/learning/jacobian.h"

namespace saccade {

Jacobian::Jacobian(const Model& model, std::unique_ptr<Environment> environment)
    : rollout(model, std::move(environment)),
      dcanvases(zeros<2>(rollout.episodes(), model.canvas().pixels())),
      dglimpses(rollout.look->glimpses),
      dfeatures(zeros<3>(model.num_glimpses(), rollout.episodes(), model.look().feature_size)),
      model_(model),
      memory_(model, rollout.episodes()),
      scratch_(zeros<1>(model.layout().size())),
      advantages_(zeros<2>(model.num_glimpses(), rollout.episodes())) {}

void Jacobian::run(std::span<const float> parameters, RolloutRequest request) {
  request.classify_every_step = true;
  rollout.run(parameters, request);
}

void Jacobian::backward(std::span<const float> parameters, int s, std::span<const int> chosen) {
  Look& look = *rollout.look;
  rollout.core.dstate.fill(0.0F);
  rollout.answer->logit_backward(flat(scratch_), s, chosen, parameters);
  // No losses of its own; prepares the gradients that pass through its weights.
  if (model_.look().differentiable)
    look.loss_backward(flat(scratch_), {.advantages = matrix(advantages_), .weight = 0, .scale = 0},
                       parameters);
  steps_backward(flat(scratch_), memory_, model_, rollout, parameters, &dfeatures);
  dcanvases.fill(0.0F);
  look.input_backward(matrix(dcanvases), dglimpses, matrix(memory_.dfeatures), parameters);
}

}  // namespace saccade
