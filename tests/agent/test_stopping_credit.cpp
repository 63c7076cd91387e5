// What a decision to stop and the looks before it are worth, by enumeration of all stopping times.
#include <doctest/doctest.h>

#include "tests/agent/stop_gradients.h"

namespace saccade {
namespace {

// The value of the answer after look t of an agent that answers one class.
double value_of_class(const StoppingPlayer& player, const std::string& reward, int t, int b) {
  const int label = player.rollout.environment->facts()[b].label;
  return find_reward(reward).of_answer(player.most_probable(t, b) == label,
                                       player.probabilities(t, b)[label], chance_of(kTinyClasses),
                                       {});
}

TEST_CASE(
    "the sampled estimator has the gradient of the expected reward, over all stopping times") {
  AgentConfig config = fixed_looks(stopping_config("sampled"));
  for (const std::string& advantage : advantage_estimators()) {
    if (find_advantage(advantage).min_rollouts > 1) continue;  // needs the other rollouts
    for (const std::string& reward : judged_rewards()) {
      CAPTURE(advantage);
      CAPTURE(reward);
      config.reinforce.advantage = advantage;
      config.reinforce.reward = reward;
      config.reinforce.trace = 1.0;
      StoppingPlayer player(config, kWays, kWays);
      player.play({});
      const std::vector<double> exact =
          exact_stop_gradient(player, [&](int t) { return value_of_class(player, reward, t, 0); });
      CHECK(relative_error(estimated_stop_gradient(config), exact) < 1e-4);
      AgentConfig free = config;
      free.glimpse.stop_price = 0.0;
      CHECK(relative_error(estimated_stop_gradient(free), exact) > 1e-2);
    }
  }
}

// The locator's gradient by REINFORCE, in expectation over all pairs of looks at a grid, and the
// slope of the expected reward, both by every third parameter of the locator.
struct LookGradients {
  std::vector<double> estimated, exact;
};

LookGradients look_gradients(AgentConfig config) {
  constexpr int kPlaces = 6, kPairs = kPlaces * kPlaces;
  config.glimpse.kind = "hard_categorical";
  config.glimpse.first = "learned";
  config.glimpse.num_glimpses = 2;
  config.reinforce.rollouts = kPairs;
  config.reinforce.weight = 1.0;
  config.reinforce.entropy = 0.0;
  const bool sampled = find_stop_kind(config.glimpse.stop).sampled;
  // Of a sampled stop also both decisions after the first look.
  const int ways = sampled ? 2 : 1, episodes = kPairs * ways;
  StoppingPlayer player(config, episodes, episodes);
  Tensor<3> actions = zeros<3>(2, episodes, kPlaces);
  Tensor<2> decisions = zeros<2>(2, episodes);
  for (int b = 0; b < episodes; ++b) {
    actions(0, b, b % kPairs / kPlaces) = 1.0F;
    actions(1, b, b % kPlaces) = 1.0F;
    decisions(0, b) = static_cast<float>(b / kPairs);
  }
  const auto play = [&] { player.play({.replay = &actions, .stops = &decisions}); };
  const auto chance = [&](int b) {
    return static_cast<double>(player.rollout.look->decisions(0, b, b % kPairs / kPlaces)) *
           player.rollout.look->decisions(1, b, b % kPlaces);
  };
  play();
  CreditAssignment credit(player.model, episodes);
  const Advantage& advantage = find_advantage(config.reinforce.advantage);
  credit.observe(player.rollout, flat(player.parameters), advantage.reads_baseline);
  const std::vector<double> averages = {0.4, 0.3};
  credit.estimate(advantage, 1, averages);
  for (int b = 0; b < episodes; ++b)
    for (int t = 0; t < 2; ++t) {
      double weight = chance(b);
      if (sampled)
        weight *= decisions(0, b) == 1.0F ? player.halting(0, b) : 1.0 - player.halting(0, b);
      credit.advantages(t, b) *= static_cast<float>(weight);
    }
  Tensor<1> gradient = zeros<1>(player.model.layout().size());
  player.rollout.look->loss_backward(flat(gradient), {.advantages = matrix(credit.advantages)},
                                     flat(player.parameters));
  const auto objective = [&] {
    play();
    double sum = 0.0;
    for (int b = 0; b < kPairs; ++b) {
      const double lambda = player.halting(0, b);
      const auto worth_at = [&](int t) {
        return value_of_class(player, "probability", t, b) - config.glimpse.stop_price * t;
      };
      sum += chance(b) * (lambda * worth_at(0) + (1.0 - lambda) * worth_at(1));
    }
    return sum;
  };
  LookGradients result;
  for (const Parameter& p : player.model.layout().parameters()) {
    if (!p.name.starts_with("locator.")) continue;
    const std::span<float> weights = values_of(flat(player.parameters), p);
    for (std::size_t i = 0; i < weights.size(); i += 3) {
      const float before = weights[i];
      weights[i] = before + 1e-2F;
      const double above = objective();
      weights[i] = before - 1e-2F;
      const double below = objective();
      weights[i] = before;
      result.exact.push_back((above - below) / 2e-2);
      result.estimated.push_back(-values_of(flat(gradient), p)[i]);
    }
  }
  return result;
}

TEST_CASE("looks get the credit of what is expected of an agent that may stop after them") {
  for (const std::string& stop : learned_stops())
    for (const std::string& advantage : advantage_estimators()) {
      if (find_advantage(advantage).min_rollouts > 1) continue;
      for (const char* reward : {"probability", "gain"}) {
        CAPTURE(stop);
        CAPTURE(advantage);
        CAPTURE(reward);
        AgentConfig config = stopping_config(stop);
        config.reinforce.advantage = advantage;
        config.reinforce.reward = reward;
        config.reinforce.trace = 1.0;
        const LookGradients gradients = look_gradients(config);
        CHECK(relative_error(gradients.estimated, gradients.exact) < 5e-3);
      }
    }
}

}  // namespace
}  // namespace saccade
