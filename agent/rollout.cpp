#include "agent/rollout.h"

#include <algorithm>

#include "nn/layers.h"

namespace saccade {

Rollout::Rollout(const Model& model, std::unique_ptr<Environment> environment_)
    : environment(std::move(environment_)),
      core(model.core->make_memory(model.num_glimpses(), environment->episodes())),
      model_(model),
      policy_(find_policy(model.config().glimpse.kind)),
      first_policy_(find_first_glimpse(model.config().glimpse.first)) {
  const int steps = model.num_glimpses();
  const int batch = episodes();
  means = zeros<3>(steps, batch, 2);
  samples = zeros<3>(steps, batch, 2);
  locations = zeros<3>(steps, batch, 2);
  glimpses = zeros<3>(steps, batch, model.glimpse_size());
  joint = zeros<3>(steps, batch, model.glimpse_network.joint_size());
  locator_hidden = zeros<3>(steps, batch, model.locator.hidden_size());
  logits = zeros<3>(steps, batch, model.num_classes());
  probabilities = zeros<3>(steps, batch, model.num_classes());
  losses = zeros<2>(steps, batch);
  labels.resize(batch);
  classes.resize(batch);
  rewards.resize(batch);
  streams_.assign(batch, RandomStream(0, Purpose::policy_noise, 0, 0));
  targets_ = zeros<2>(batch, 2);
  // A control keeps its own rule from the first glimpse on.
  if (!policy_learns(model.config().glimpse.kind)) first_policy_ = policy_;
}

void Rollout::run(std::span<const float> parameters, const RolloutRequest& request) {
  const int steps = model_.num_glimpses();
  environment->reset(request.first_scene);
  const std::span<const SceneFacts> facts = environment->facts();
  for (int b = 0; b < episodes(); ++b) {
    labels[b] = facts[b].label;
    streams_[b] = RandomStream(request.seed, Purpose::policy_noise, request.update,
                               request.first_episode + b);
    targets_(b, 0) = facts[b].regions[0].x;
    targets_(b, 1) = facts[b].regions[0].y;
  }

  for (int t = 0; t < steps; ++t) {
    place_glimpse(t, parameters, request);
    clamp_to_canvas(step(locations, t), step(samples, t));
    environment->look(step(locations, t), step(glimpses, t));
    model_.glimpse_network.forward(core.feature(t), step(joint, t), step(glimpses, t),
                                   step(locations, t), parameters);
    model_.core->forward(core, t, parameters);
    if (t == steps - 1 || request.classify_every_step) classify(t, parameters);
  }

  const ConstMatrix p = step(probabilities, steps - 1);
  for (int b = 0; b < episodes(); ++b)
    classes[b] = static_cast<int>(std::max_element(p.row(b), p.row(b) + p.cols) - p.row(b));
  environment->answer(classes, rewards);
}

void Rollout::place_glimpse(int t, std::span<const float> parameters,
                            const RolloutRequest& request) {
  const Matrix mean = step(means, t);
  if (t > 0)
    model_.locator.forward(mean, step(locator_hidden, t), core.state(t), parameters);
  else if (model_.first_location >= 0)
    for (int b = 0; b < episodes(); ++b) model_.first_mean(mean.row(b), parameters);

  const Policy own = t == 0 ? first_policy_ : policy_;
  const Policy policy = request.policy != nullptr ? request.policy : own;
  policy(step(samples, t), {.t = t,
                            .num_glimpses = model_.num_glimpses(),
                            .mean = mean,
                            .std = request.std,
                            .target = matrix(targets_),
                            .streams = streams_});
}

void Rollout::classify(int t, std::span<const float> parameters) {
  model_.classifier.forward(step(logits, t), core.state(t + 1), parameters);
  cross_entropy_forward(step(probabilities, t),
                        {&losses(t, 0), static_cast<std::size_t>(episodes())}, step(logits, t),
                        labels);
}

}  // namespace saccade
