#pragma once

#include <span>

#include "agent/credit/advantage.h"
#include "agent/credit/reward.h"
#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "nn/tensor.h"

namespace saccade {

/// Computes the advantages of the decisions of B episodes from their rewards. Allocates nothing
/// after construction.
class CreditAssignment {
 public:
  /// Keeps references to `model` and `own_reward`, which reinforce.reward: own needs. Throws
  /// InputError without it, and for one that the model does not take.
  CreditAssignment(const Model& model, int episodes, const RewardFunction* own_reward = nullptr);

  /// After a rollout: writes the rewards, the returns and, if `with_baselines` and the model has a
  /// critic, its baselines. Throws OwnPartError if the program's reward throws or is not finite.
  void observe(Rollout& rollout, std::span<const float> parameters, bool with_baselines);

  /// After observe: writes the advantages. Each `rollouts` consecutive episodes share a scene;
  /// `average_returns` (T) as in AdvantageRequest. Of an agent that may stop, the advantages are
  /// weighed by the probability that the episode came so far.
  void estimate(const Advantage& advantage, int rollouts, std::span<const double> average_returns);

  /// After observe: the probabilities of coming to each look, as reach_at() reads them.
  ConstMatrix reach() const { return stop_.reach; }

  /// (T): returns from each step, summed over the episodes.
  void sum_returns(std::span<double> sums) const;

  Tensor<2> step_rewards;  // (T, B): r_t
  Tensor<2> returns;       // (T, B): return that follows the decisions of step t
  Tensor<2> baselines;     // (T, B): b_t of the state before glimpse t
  Tensor<2> advantages;    // (T, B)
  Tensor<2> stops;         // (T, B): advantages of the decisions after the looks; of a sampled stop
  CriticMemory critic;

 private:
  void ask_beliefs(const Rollout& rollout);
  void estimate_stops(const Advantage& advantage);

  const Model& model_;
  const RewardFunction* reward_of_beliefs_ = nullptr;
  StopCredit stop_;
  const Trace trace_;
};

}  // namespace saccade
