#include "agent/learning/credit_assignment.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace saccade {

CreditAssignment::CreditAssignment(const Model& model, int episodes,
                                   const RewardFunction* own_reward)
    : step_rewards(zeros<2>(model.num_glimpses(), episodes)),
      returns(zeros<2>(model.num_glimpses(), episodes)),
      baselines(zeros<2>(model.num_glimpses(), episodes)),
      advantages(zeros<2>(model.num_glimpses(), episodes)),
      stops(zeros<2>(model.answer().samples_stops ? model.num_glimpses() : 0, episodes)),
      critic(model.baseline ? model.baseline->make_memory(model.num_glimpses(), episodes)
                            : CriticMemory()),
      model_(model),
      trace_(trace_of(model.config().reinforce, model.answer().acts)) {
  const std::string& name = model.config().reinforce.reward;
  const RewardKind& reward = find_reward(name);
  const bool is_own = model.answer().classifies && reward.is_own;
  if (is_own && own_reward == nullptr)
    throw InputError(
        "reinforce.reward: own: a program gives it, and none does here; allowed: where one does, "
        "as saccade.train(reward=...) in Python");
  if (!is_own && own_reward != nullptr)
    throw InputError(fmt::format(
        "a reward is given, and reinforce.reward is {}; allowed: own, of agents that answer with "
        "one class",
        name));
  if (model.answer().classifies)
    reward_of_beliefs_ = is_own ? own_reward : reward.of_beliefs ? &reward.of_beliefs : nullptr;
}

void CreditAssignment::observe(Rollout& rollout, std::span<const float> parameters,
                               bool with_baselines) {
  if (reward_of_beliefs_ != nullptr)
    ask_beliefs(rollout);
  else
    rollout.answer->step_rewards(matrix(step_rewards));
  stop_ = rollout.answer->stop_credit();
  discounted_returns(matrix(returns), matrix(step_rewards), trace_.of_returns, stop_.chances);
  if (with_baselines && model_.baseline) rollout.estimate_baselines(baselines, critic, parameters);
}

void CreditAssignment::ask_beliefs(const Rollout& rollout) {
  step_rewards.fill(0.0F);
  (*reward_of_beliefs_)({.probabilities = rollout.answer->probabilities,
                         .facts = rollout.environment->facts(),
                         .locations = rollout.look->locations,
                         .own = &model_.config().reinforce.own},
                        matrix(step_rewards));
  const int steps = static_cast<int>(step_rewards.shape()[0]), batch = rollout.episodes();
  for (int t = 0; t < steps; ++t)
    for (int b = 0; b < batch; ++b)
      if (!std::isfinite(step_rewards(t, b)))
        throw OwnPartError(fmt::format(
            "the reward of look {} in episode {} of a lane is {}; allowed: finite numbers", t, b,
            step_rewards(t, b)));
}

void CreditAssignment::estimate(const Advantage& advantage, int rollouts,
                                std::span<const double> average_returns) {
  advantage.estimate(matrix(advantages),
                     {.returns = matrix(returns),
                      .baselines = matrix(baselines),
                      .rollouts = rollouts,
                      .constant = static_cast<float>(model_.config().reinforce.constant),
                      .average_returns = average_returns,
                      .step_rewards = matrix(step_rewards),
                      .discount = trace_.discount,
                      .trace = trace_.of_advantage,
                      .chances = stop_.chances});
  if (stop_.chances.data == nullptr) return;
  if (model_.answer().samples_stops) estimate_stops(advantage);
  for (int t = 0; t < stop_.reach.rows; ++t)
    for (int b = 0; b < stop_.reach.cols; ++b) advantages(t, b) *= stop_.reach(t, b);
}

// To go on after look t is worth what follows look t + 1, and is compared, as to stop is, with the
// same estimate of it.
void CreditAssignment::estimate_stops(const Advantage& advantage) {
  const int last = stop_.chances.rows - 1;
  for (int t = 0; t < last; ++t)
    for (int b = 0; b < stop_.chances.cols; ++b) {
      const float going_on = advantages(t + 1, b);
      const float estimate = advantage.traces ? baselines(t + 1, b) : returns(t + 1, b) - going_on;
      const bool stopped = stop_.chances(t, b) == 1.0F;
      stops(t, b) = stop_.reach(t, b) * (stopped ? stop_.rewards(t, b) - estimate : going_on);
    }
}

void CreditAssignment::sum_returns(std::span<double> sums) const {
  const int episodes = static_cast<int>(returns.shape()[1]);
  for (std::size_t t = 0; t < sums.size(); ++t) {
    sums[t] = 0.0;
    for (int b = 0; b < episodes; ++b) sums[t] += returns(t, b);
  }
}

}  // namespace saccade
