#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "agent/learning/learner.h"
#include "tests/agent/support.h"

namespace saccade {

constexpr int kEpisodes = 12;
constexpr int kBatch = 24;  // twice the lane size
constexpr std::uint64_t kFirstScene = 3;

// A different value for each step.
inline std::vector<double> average_returns(int steps) {
  std::vector<double> averages;
  for (int t = 0; t < steps; ++t) averages.push_back(0.35 - 0.04 * t);
  return averages;
}

/// A tiny agent with every loss term of REINFORCE switched on.
inline AgentConfig busy_config(const std::string& core) {
  AgentConfig config = tiny_config(core);
  config.reinforce = {.rollouts = 2,
                      .advantage = "learned",
                      .reward = "probability",
                      .weight = 0.7,
                      .entropy = 0.05,
                      .baseline_weight = 0.6,
                      .constant = 0.2};
  config.training.classifier_weight = 0.9;
  config.training.step_loss = 0.4;
  return config;
}

/// A lane of an agent with random weights that has run once.
struct Played {
  explicit Played(const AgentConfig& config, const ObservationSpec& spec = kTinySpec,
                  const EnvironmentFactory& environments = tiny_environment)
      : model(config, spec),
        parameters(zeros<1>(model.layout().size())),
        gradient(zeros<1>(model.layout().size())),
        lane(model, environments(kEpisodes, config.reinforce.rollouts)) {
    randomize(flat(parameters), model.layout(), 0.4F, 5);
    sums = run();
  }

  /// Plays the same episodes again with the parameters of now, and these actions, if any.
  LossSums run(const Tensor<3>* replay = nullptr) {
    return lane.run(flat(gradient), flat(parameters),
                    {.first_scene = kFirstScene,
                     .seed = 11,
                     .update = 2,
                     .progress = 0.0,
                     .replay = replay,
                     .classify_every_step = model.config().training.step_loss > 0.0},
                    average_returns(model.num_glimpses()), kBatch);
  }

  Model model;
  Tensor<1> parameters, gradient;
  Lane lane;
  LossSums sums;
};

/// The parts of the model, as prefixes of parameter names, that received any gradient.
inline std::set<std::string> reached_parts(const Played& played) {
  std::set<std::string> parts;
  for (const Parameter& p : played.model.layout().parameters()) {
    const std::span<const float> gradient = values_of(flat(played.gradient), p);
    if (std::ranges::all_of(gradient, [](float g) { return g == 0.0F; })) continue;
    const bool whole_name = p.name == "locator.first" || p.name == "locator.log_std";
    parts.insert(whole_name ? p.name : p.name.substr(0, p.name.find('.')));
  }
  return parts;
}

}  // namespace saccade
