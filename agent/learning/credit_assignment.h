#pragma once

#include <span>

#include "agent/credit/advantage.h"
#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "nn/tensor.h"

namespace saccade {

/// From the rewards of B episodes to the advantages of their decisions. Allocates nothing after
/// construction.
class CreditAssignment {
 public:
  /// Keeps a reference to `model`.
  CreditAssignment(const Model& model, int episodes);

  /// Of a rollout that was played: writes the rewards, the returns and, `with_baselines`, what the
  /// critic expected, if the model has one.
  void observe(Rollout& rollout, std::span<const float> parameters, bool with_baselines);

  /// After observe: writes the advantages. `rollouts` episodes in a row share a scene;
  /// `average_returns` (T) as in AdvantageRequest.
  void estimate(const Advantage& advantage, int rollouts, std::span<const double> average_returns);

  /// (T): sums over the episodes of what followed each step.
  void sum_returns(std::span<double> sums) const;

  Tensor<2> earned;      // (T, B): r_t
  Tensor<2> returns;     // (T, B): what followed the decisions of step t
  Tensor<2> baselines;   // (T, B): b_t of the state before glimpse t
  Tensor<2> advantages;  // (T, B)
  CriticMemory critic;

 private:
  const Model& model_;
  const Trace trace_;
};

}  // namespace saccade
