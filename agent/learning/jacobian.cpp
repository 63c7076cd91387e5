#include "agent/learning/jacobian.h"

namespace saccade {

Jacobian::Jacobian(const Model& model, std::unique_ptr<Environment> environment)
    : rollout(model, std::move(environment)),
      dcanvases(zeros<2>(rollout.episodes(), model.canvas().pixels())),
      dglimpses(rollout.look->glimpses),
      dfeatures(zeros<3>(model.num_glimpses(), rollout.episodes(), model.look().feature_size)),
      model_(model),
      memory_(model, rollout.episodes()),
      gradient_(zeros<1>(model.layout().size())),
      dlogits_(rollout.answer->probabilities),
      advantages_(zeros<2>(model.num_glimpses(), rollout.episodes())) {}

void Jacobian::run(std::span<const float> parameters, RolloutRequest request) {
  request.classify_every_step = true;
  rollout.run(parameters, request);
}

void Jacobian::backward(std::span<const float> parameters, int s, std::span<const int> chosen) {
  dlogits_.fill(0.0F);
  for (int b = 0; b < rollout.episodes(); ++b)
    if (chosen[b] >= 0) dlogits_(s, b, chosen[b]) = 1.0F;
  backward(parameters, matrix(dlogits_));
}

void Jacobian::backward(std::span<const float> parameters, ConstMatrix dlogits) {
  Look& look = *rollout.look;
  rollout.core.dstate.fill(0.0F);
  rollout.answer->logits_backward(flat(gradient_), dlogits, parameters);
  // No losses of its own; prepares the gradients that pass through its weights.
  if (model_.look().differentiable)
    look.loss_backward(flat(gradient_),
                       {.advantages = matrix(advantages_), .weight = 0, .scale = 0}, parameters);
  steps_backward(flat(gradient_), memory_, model_, rollout, parameters, &dfeatures);
  dcanvases.fill(0.0F);
  look.input_backward(matrix(dcanvases), dglimpses, matrix(memory_.dfeatures), parameters);
}

}  // namespace saccade
