#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/tensor.h"

namespace saccade {

/// What an estimator may use for the advantage of A actions in B episodes.
struct AdvantageRequest {
  ConstMatrix returns;    // (A, B): what followed each action
  ConstMatrix baselines;  // (A, B): b_t of the baseline network, read as a constant
  int rollouts = 1;       // M episodes in a row share a scene
  float constant = 0.0F;
  float average_reward = 0.0F;  // moving average over earlier updates
};

/// How the advantage of an action is estimated from its return.
struct Advantage {
  /// Writes advantages (A, B): the return of each action less an estimate of it that does not
  /// depend on the action (Williams 1992).
  void (*estimate)(Matrix advantages, const AdvantageRequest& request) = nullptr;
  bool reads_baseline = false;  // of the baseline network, which then learns
  int min_rollouts = 1;         // M, of the same scene
};

/// `none` (R), `constant` (R - c), `ema` (less the moving average of earlier rewards), `learned`
/// (less the baseline network's b_t), `leave_one_out` (less the mean return of the other rollouts
/// of the same scene; Kool et al. 2019). Throws InputError listing the names.
const Advantage& find_advantage(const std::string& name);
std::vector<std::string> advantage_estimators();
/// Throws InputError naming the keys unless the estimator can do with so many rollouts of a scene.
void check_advantage(const std::string& name, int rollouts);

}  // namespace saccade
