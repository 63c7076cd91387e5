#include "agent/learning/credit_assignment.h"

namespace saccade {

CreditAssignment::CreditAssignment(const Model& model, int episodes)
    : step_rewards(zeros<2>(model.num_glimpses(), episodes)),
      returns(zeros<2>(model.num_glimpses(), episodes)),
      baselines(zeros<2>(model.num_glimpses(), episodes)),
      advantages(zeros<2>(model.num_glimpses(), episodes)),
      critic(model.baseline ? model.baseline->make_memory(model.num_glimpses(), episodes)
                            : CriticMemory()),
      model_(model),
      trace_(trace_of(model.config().reinforce, model.answer().acts)) {}

void CreditAssignment::observe(Rollout& rollout, std::span<const float> parameters,
                               bool with_baselines) {
  rollout.answer->step_rewards(matrix(step_rewards));
  discounted_returns(matrix(returns), matrix(step_rewards), trace_.of_returns);
  if (with_baselines && model_.baseline) rollout.estimate_baselines(baselines, critic, parameters);
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
                      .trace = trace_.of_advantage});
}

void CreditAssignment::sum_returns(std::span<double> sums) const {
  const int episodes = static_cast<int>(returns.shape()[1]);
  for (std::size_t t = 0; t < sums.size(); ++t) {
    sums[t] = 0.0;
    for (int b = 0; b < episodes; ++b) sums[t] += returns(t, b);
  }
}

}  // namespace saccade
