#include "agent/rollout.h"

#include <algorithm>

#include "nn/layers.h"

namespace saccade {

Rollout::Rollout(const Model& model, std::unique_ptr<Environment> environment_)
    : environment(std::move(environment_)),
      core(model.core->make_memory(model.num_glimpses(), environment->episodes())),
      look(make_look(model, *environment, core)),
      model_(model) {
  const int steps = model.num_glimpses();
  const int batch = episodes();
  logits = zeros<3>(steps, batch, model.num_classes());
  probabilities = zeros<3>(steps, batch, model.num_classes());
  losses = zeros<2>(steps, batch);
  labels.resize(batch);
  classes.resize(batch);
  rewards.resize(batch);
  streams_.assign(batch, RandomStream(0, Purpose::policy_noise, 0, 0));
  targets_ = zeros<2>(batch, 2);
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

  look->begin(parameters);
  for (int t = 0; t < steps; ++t) {
    look->decide({t, parameters, request, matrix(targets_), streams_});
    if (request.replay != nullptr) copy_rows(step(look->actions, t), step(*request.replay, t));
    look->read(t, parameters);
    model_.core->forward(core, t, parameters);
    if (t == steps - 1 || request.classify_every_step) classify(t, parameters);
  }

  const ConstMatrix p = step(probabilities, steps - 1);
  for (int b = 0; b < episodes(); ++b)
    classes[b] = static_cast<int>(std::max_element(p.row(b), p.row(b) + p.cols) - p.row(b));
  environment->answer(classes, rewards);
}

void Rollout::classify(int t, std::span<const float> parameters) {
  model_.classifier.forward(step(logits, t), core.state(t + 1), parameters);
  cross_entropy_forward(step(probabilities, t),
                        {&losses(t, 0), static_cast<std::size_t>(episodes())}, step(logits, t),
                        labels);
}

}  // namespace saccade
