#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "agent/answering/stopping.h"
#include "tests/agent/played.h"
#include "tests/agent/tasks.h"

namespace saccade {

/// A busy agent that may stop early.
inline AgentConfig stopping_config(const std::string& stop, const std::string& core = "rnn") {
  AgentConfig config = busy_config(core);
  config.glimpse.stop = stop;
  config.glimpse.stop_price = 0.05;
  config.glimpse.stop_prior = 0.3;
  config.glimpse.stop_prior_weight = 0.2;
  return config;
}

inline std::vector<std::string> learned_stops() {
  std::vector<std::string> names = stop_kinds();
  std::erase_if(names, [](const std::string& name) { return !find_stop_kind(name).learned(); });
  return names;
}

inline Task tiny_task() { return {"cluttered", tiny_environment, kTinySpec}; }

/// An agent with random weights that may be asked after every look.
struct StoppingPlayer {
  explicit StoppingPlayer(const AgentConfig& config, int episodes = kEpisodes, int rollouts = 1,
                          const Task& task = tiny_task())
      : model(config, task.spec),
        parameters(zeros<1>(model.layout().size())),
        rollout(model, task.environments(episodes, rollouts)) {
    randomize(flat(parameters), model.layout(), 0.7F, 9);
  }

  void play(RolloutRequest request) {
    request.classify_every_step = true;
    rollout.run(flat(parameters), request);
  }
  int steps() const { return rollout.core.steps; }

  // Of an agent that answers one class:
  const float* probabilities(int t, int b) const { return &rollout.answer->probabilities(t, b, 0); }
  int most_probable(int t, int b) const {
    const float* p = probabilities(t, b);
    return static_cast<int>(std::max_element(p, p + model.num_classes()) - p);
  }
  double log_odds(int t, int b) const {
    const double p = probabilities(t, b)[most_probable(t, b)];
    return std::log(p / (1.0 - p));
  }

  /// What lambda_t depends on, in the order of the head's parameters: the state, 1 and, of an agent
  /// that answers one class, the log odds.
  std::vector<double> seen_by_head(int t, int b) {
    const float* h = rollout.core.state(t + 1).row(b);
    std::vector<double> seen(h, h + rollout.core.hidden);
    seen.push_back(1.0);
    if (model.answer().classifies) seen.push_back(log_odds(t, b));
    return seen;
  }
  std::vector<double> of_head(std::span<const float> block) const {
    std::vector<double> all;
    for (const char* name : {"stop.weight", "stop.bias", "stop.sureness"})
      for (const Parameter& p : model.layout().parameters())
        if (p.name == name)
          for (const float value : values_of(block, p)) all.push_back(value);
    return all;
  }
  /// lambda_t by the parameters, in double precision.
  double halting(int t, int b) {
    if (t == steps() - 1) return 1.0;
    const std::vector<double> head = of_head(flat(std::as_const(parameters)));
    const std::vector<double> seen = seen_by_head(t, b);
    double z = 0.0;
    for (std::size_t i = 0; i < head.size(); ++i) z += head[i] * seen.at(i);
    return 1.0 / (1.0 + std::exp(-z));
  }
  /// The looks by which a learned stop has stopped with a probability above the threshold.
  int looks_at_quantile(int b, double threshold) {
    double going_on = 1.0;
    int looks = 0;
    do going_on *= 1.0 - halting(looks, b);
    while (++looks < steps() && 1.0 - going_on <= threshold);
    return looks;
  }

  Model model;
  Tensor<1> parameters;
  Rollout rollout;
};

}  // namespace saccade
