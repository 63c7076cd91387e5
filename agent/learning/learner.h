#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agent/credit/advantage.h"
#include "agent/learning/backward.h"
#include "agent/learning/credit_assignment.h"
#include "agent/learning/loss_sums.h"
#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "base/ranks.h"
#include "nn/gradient_sum.h"
#include "nn/optimizer.h"
#include "nn/parallel.h"

namespace saccade {

/// The result of one update.
struct UpdateReport {
  LossSums sums;
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  double location_std = 0;
  double temperature = 0;
};

/// The memory with which a thread plays and differentiates a lane: a fixed share of the batch. A
/// run leaves nothing that the next one depends on, so that a few of these serve all lanes.
///
/// Which loss sends gradients where (a tested fact):
///   cross-entropy         -> classifier or decoder, attention over states, core, gate, glimpse
///                            network; for soft kinds also the locator, score or first location
///                            and, through it, the states that it reads, for points and windows
///                            unless attention.glimpse.detach_state; with reinforce.estimator:
///                            pathwise or both also the locator or first location of the Gaussian,
///                            and its log std
///   REINFORCE of looks    -> locator or score, first location, log std. The state and the
///                            embeddings that it reads are detached; the sampled location and the
///                            advantage are constants. Not with reinforce.estimator: pathwise,
///                            except for the entropy bonus of log std
///   REINFORCE of actions  -> as the cross-entropy
///   REINFORCE of a stop   -> stop; the state and the answer that it reads are detached
///                            (attention.glimpse.stop: sampled)
///   expectation of a stop -> stop, and as the cross-entropy (attention.glimpse.stop: expected);
///                            also the price of looks and the divergence from the prior
///   penalties, soft kinds -> as the cross-entropy, except for the classifier
///   baseline              -> baseline; the state that it reads is detached, unless
///                            reinforce.shared_baseline lets the gradient reach the core
/// The context network (model.context) gets the gradients that reach the locator, and no others.
class Lane {
 public:
  /// `own_reward` as in CreditAssignment.
  Lane(const Model& model, std::unique_ptr<Environment> environment,
       const RewardFunction* own_reward = nullptr);

  /// Plays the episodes of a lane and overwrites `gradient`, one block of the layout that was zero
  /// at first, with that of the mean loss over a batch of `batch_size`. `average_returns` as in
  /// AdvantageRequest.
  LossSums run(std::span<float> gradient, std::span<const float> parameters,
               const RolloutRequest& request, std::span<const double> average_returns,
               int batch_size);
  const CreditAssignment& credit() const { return credit_; }

  const Rollout& rollout() const { return rollout_; }

 private:
  double baseline_backward(std::span<float> gradient, std::span<const float> parameters,
                           float scale);
  double mean_entropy() const;

  const Model& model_;
  const Advantage& advantage_;
  Rollout rollout_;
  BackwardMemory backward_;
  CreditAssignment credit_;
  Tensor<2> dbaselines_;  // (T, B)
};

/// Learns by lanes: the same configuration and seed give the same bits for any number of threads
/// and ranks. Each rank computes its share of the lanes and a full copy of everything else.
class Learner {
 public:
  /// Keeps references to `model`, `workers`, `ranks` and `own_reward`, which is as in
  /// CreditAssignment. Draws the initial weights. Throws InputError if there are more ranks than
  /// lanes, or less memory than the minimum needed.
  Learner(const Model& model, const EnvironmentFactory& environments, std::uint64_t seed,
          Workers& workers, Ranks& ranks = alone(), const RewardFunction* own_reward = nullptr);

  /// One update: scenes, looks, answers, advantages, backward, optimiser. Allocates nothing after
  /// the first, unless `workers` got more threads. Throws NonFiniteError naming the update and the
  /// term, on all ranks, or LostRank; the weights are then unchanged.
  UpdateReport step();

  const Model& model() const { return model_; }
  std::int64_t updates() const { return optimizer.updates; }
  std::int64_t episodes() const;
  /// Number of updates in the whole training.
  std::int64_t total_updates() const { return total_updates_; }
  double progress() const;

  Tensor<1> parameters;                 // one block of the layout
  Optimizer optimizer;                  // includes the averaged weights
  std::vector<double> average_returns;  // (T), for advantage `ema`; else 0

 private:
  void add_lanes();
  void run_lane(Lane& memory, int i);
  void check_finite(const LossSums& sums, double gradient_norm) const;
  void average(double episodes);

  const Model& model_;
  Workers& workers_;
  Ranks& ranks_;
  std::uint64_t seed_;
  std::int64_t total_updates_;
  EnvironmentFactory environments_;
  const RewardFunction* const own_reward_;
  Share share_;                               // lanes of this rank
  std::vector<std::unique_ptr<Lane>> lanes_;  // one per thread, at most one per lane of share_
  std::vector<Tensor<1>> lane_gradients_;     // of the lanes of share_
  std::vector<Tensor<1>*> gradients_;         // the same
  std::optional<GradientSum> gradient_sum_;   // if there are several ranks
  // Of all lanes, one cache line each, so that lanes that finish together do not share a line.
  std::vector<LossSums, LineAllocator<LossSums>> lane_sums_;
  std::vector<double> lane_returns_;  // (lanes, T): sums, if they are averaged
};

}  // namespace saccade
