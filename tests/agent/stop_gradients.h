#pragma once

#include <string>
#include <vector>

#include "agent/learning/credit_assignment.h"
#include "tests/agent/stopping_player.h"

// The gradient of a sampled stop's head against enumeration: four episodes of one scene whose three
// looks are fixed take all pairs of decisions after the first two.
namespace saccade {

constexpr int kLooks = 3, kWays = 4;

/// An agent with a sampled stop whose looks are fixed.
inline AgentConfig fixed_looks(AgentConfig config) {
  config.glimpse.kind = "center";
  config.reinforce.rollouts = kWays;
  config.reinforce.entropy = 0.0;
  config.training.step_loss = 0.0;
  return config;
}

/// The gradient of the head, by its sampled estimator in expectation over all decisions.
inline std::vector<double> estimated_stop_gradient(const AgentConfig& config,
                                                   const Task& task = tiny_task()) {
  StoppingPlayer player(config, kWays, kWays, task);
  Tensor<2> decisions = zeros<2>(kLooks, kWays);
  for (int b = 0; b < kWays; ++b) {
    decisions(0, b) = static_cast<float>(b % 2);
    decisions(1, b) = static_cast<float>(b / 2);
  }
  player.rollout.run(flat(player.parameters), {.stops = &decisions});
  CreditAssignment credit(player.model, kWays);
  const Advantage& advantage = find_advantage(config.reinforce.advantage);
  credit.observe(player.rollout, flat(player.parameters), advantage.reads_baseline);
  const std::vector<double> averages = {0.4, 0.3, 0.2};
  credit.estimate(advantage, 1, averages);
  for (int b = 0; b < kWays; ++b) {
    double chance = 1.0;
    for (int t = 0; t < 2; ++t)
      chance *= decisions(t, b) == 1.0F ? player.halting(t, b) : 1.0 - player.halting(t, b);
    for (int t = 0; t < 2; ++t) credit.stops(t, b) *= static_cast<float>(chance);
  }
  Tensor<1> gradient = zeros<1>(player.model.layout().size());
  const Tensor<2> none = zeros<2>(kLooks, kWays);
  player.rollout.answer->backward(flat(gradient),
                                  {.advantages = matrix(none), .stops = matrix(credit.stops)},
                                  flat(player.parameters));
  std::vector<double> head = player.of_head(flat(std::as_const(gradient)));
  for (double& slope : head) slope = -slope;  // the loss is the negative reward
  return head;
}

/// The slope of the objective by the parameters of the head: of what `worth(t)`, the value of the
/// answer after look t, is expected to be at the stop, less the price of the looks. With
/// z_t the logit of lambda_t, d/dz_t = reach_t lambda_t (1 - lambda_t) (worth of stopping - worth
/// of going on).
template <class Worth>
std::vector<double> exact_stop_gradient(StoppingPlayer& player, const Worth& worth) {
  const double price = player.model.config().glimpse.stop_price;
  const auto objective = [&](int t) { return worth(t) - price * t; };
  std::vector<double> head;
  double reach = 1.0;
  for (int t = 0; t < kLooks - 1; ++t) {
    const double lambda = player.halting(t, 0);
    double following = 0.0, rest = 1.0;
    for (int later = t + 1; later < kLooks; ++later) {
      following += rest * player.halting(later, 0) * objective(later);
      rest *= 1.0 - player.halting(later, 0);
    }
    const double slope = reach * lambda * (1.0 - lambda) * (objective(t) - following);
    const std::vector<double> seen = player.seen_by_head(t, 0);
    head.resize(seen.size(), 0.0);
    for (std::size_t i = 0; i < seen.size(); ++i) head[i] += slope * seen[i];
    reach *= 1.0 - lambda;
  }
  return head;
}

}  // namespace saccade
