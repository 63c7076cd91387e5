#include "agent/model/rollout.h"

#include <algorithm>

#include "nn/layers.h"

namespace saccade {
namespace {

CoreMemory core_memory(const Model& model, int episodes) {
  CoreMemory memory = model.core->make_memory(model.num_glimpses(), episodes);
  if (model.gate) memory.ungated = zeros<3>(memory.steps, episodes, memory.features);
  return memory;
}

}  // namespace

Rollout::Rollout(const Model& model, std::unique_ptr<Environment> environment_)
    : environment(std::move(environment_)),
      core(core_memory(model, environment->episodes())),
      look(model.looking->make_look(*environment, core)),
      answer(model.answering->make_answer(*environment, core)),
      model_(model) {
  if (model.gate) gate.emplace(model.gate->make_memory(core.steps, episodes()));
  streams.assign(episodes(), RandomStream(0, Purpose::policy_noise, 0, 0));
  targets_ = zeros<2>(episodes(), 2);
  if (environment->moves()) moving_.resize(static_cast<std::size_t>(core.steps) * episodes());
}

void Rollout::run(std::span<const float> parameters, const RolloutRequest& request) {
  begin(parameters, request);
  for (int t = 0; t < core.steps; ++t) {
    decide(t, parameters, request);
    see(t, parameters);
    answer->step(at(t, parameters, request));
  }
}

void Rollout::begin(std::span<const float> parameters, const RolloutRequest& request) {
  environment->reset(request.first_scene);
  for (int b = 0; b < episodes(); ++b)
    streams[b] = RandomStream(request.seed, Purpose::policy_noise, request.update,
                              request.first_episode + b);

  look->exploration = request.exploration != nullptr
                          ? *request.exploration
                          : model_.looking->exploration_at(request.progress, parameters);
  look->begin(parameters);
  answer->begin();
}

void Rollout::decide(int t, std::span<const float> parameters, const RolloutRequest& request) {
  if (t == 1 && environment->has_cue()) {
    environment->end_cue();
    look->begin(parameters);
  }
  find_targets(t);
  if (request.canvases != nullptr) environment->view(step(*request.canvases, t));
  look->decide(at(t, parameters, request));
  const bool given = t < request.replay_steps;
  if (given && request.replay != nullptr)
    copy_rows(step(look->actions, t), step(*request.replay, t));
  if (given && request.locations != nullptr)
    look->place(t, step(*request.locations, t));
  else
    look->locate(t);
}

void Rollout::see(int t, std::span<const float> parameters) {
  look->read(t, parameters);
  if (gate)
    model_.gate->forward(core.feature(t), *gate, t, core.glimpse_feature(t),
                         t > 0 ? core.state(t) : ConstMatrix{}, parameters);
  model_.core->forward(core, t, parameters);
}

void Rollout::estimate_baselines(Tensor<2>& baselines, CriticMemory& critic,
                                 std::span<const float> parameters) {
  model_.baseline->forward(
      {baselines.data(), core.rows(), 1, 1}, critic, core.all_states(),
      [this](int t, int b) -> const SceneFacts& { return facts(t, b); }, parameters);
}

// Finds the current position of the first digit, which may move.
void Rollout::find_targets(int t) {
  const std::span<const SceneFacts> facts = environment->facts();
  if (!moving_.empty()) std::ranges::copy(facts, moving_.begin() + t * episodes());
  for (int b = 0; b < episodes(); ++b) {
    targets_(b, 0) = facts[b].regions[0].x;
    targets_(b, 1) = facts[b].regions[0].y;
  }
}

}  // namespace saccade
