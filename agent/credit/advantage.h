#pragma once

#include <span>
#include <string>
#include <vector>

#include "agent/spec/config.h"
#include "nn/tensor.h"

namespace saccade {

/// What an estimator may use for the advantage of the decisions of T steps in B episodes.
struct AdvantageRequest {
  ConstMatrix returns;    // (T, B): what followed each step
  ConstMatrix baselines;  // (T, B): b_t of the baseline network, read as a constant
  int rollouts = 1;       // M episodes in a row share a scene
  float constant = 0.0F;
  // (T): of the returns of each step, moving averages over earlier updates; of `ema`
  std::span<const double> average_returns = {};
  // Of `gae`:
  ConstMatrix step_rewards = {};  // (T, B): r_t
  float discount = 1.0F;          // of a reward, a step later
  float trace = 1.0F;             // lambda
  // (T, B), of `gae`: c_t, with which the episode ends after step t; no data: only after the last
  ConstMatrix chances = {};
};

/// How the advantage of an action is estimated from its return.
struct Advantage {
  /// Writes advantages (T, B): the return of each action less an estimate of it that does not
  /// depend on the action (Williams 1992).
  void (*estimate)(Matrix advantages, const AdvantageRequest& request) = nullptr;
  bool reads_baseline = false;  // of the baseline network, which then learns
  bool averages = false;        // the returns of earlier updates
  int min_rollouts = 1;         // M, of the same scene
  bool traces = false;          // reinforce.trace is a part of it, not of the returns
};

/// `none` (R), `constant` (R - c), `ema` (less the moving average of the earlier returns of the
/// same step: with reinforce.reward: gain less follows a later one), `learned` (less the baseline
/// network's b_t), `leave_one_out` (less the mean return of the other rollouts of the same scene;
/// Kool et al. 2019), `gae` (sum_k (discount trace)^k d_{t+k} of the errors
/// d_t = r_t + discount b_{t+1} - b_t, b_T = 0, where discount is discount (1 - c_t): generalised
/// advantage estimation, Schulman et al. 2016, equation 16; with trace 1 it is `learned`). Throws
/// InputError listing the names.
const Advantage& find_advantage(const std::string& name);
std::vector<std::string> advantage_estimators();
/// Throws InputError naming the keys unless the estimator can do with so many rollouts of a scene.
void check_advantage(const std::string& name, int rollouts);

/// What is earned a step later counts less by a factor.
struct Trace {
  float of_returns;    // R_t = r_t + this times R_{t+1}
  float discount;      // of the world: what the baseline estimates is discounted so
  float of_advantage;  // lambda of `gae`
};

/// reinforce.trace is lambda of `gae`, or else of the returns. Only what acts is discounted.
Trace trace_of(const ReinforceConfig& config, bool acts);

/// Writes R_t = r_t + decay (1 - c_t) R_{t+1}, (T, B): what follows step t, if the episode came so
/// far. It ends after step t with chance c_t (T, B) = `chances`; no data: only after the last.
void discounted_returns(Matrix returns, ConstMatrix step_rewards, float decay,
                        ConstMatrix chances = {});

}  // namespace saccade
