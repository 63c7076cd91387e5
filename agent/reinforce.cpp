#include "agent/reinforce.h"

#include <algorithm>

#include "nn/name_table.h"

namespace saccade {
namespace {

void subtract(Matrix advantages, ConstMatrix returns, float baseline) {
  for (int a = 0; a < advantages.rows; ++a)
    for (int b = 0; b < advantages.cols; ++b) advantages(a, b) = returns(a, b) - baseline;
}

void none(Matrix advantages, const AdvantageRequest& request) {
  subtract(advantages, request.returns, 0.0F);
}

void constant_baseline(Matrix advantages, const AdvantageRequest& request) {
  subtract(advantages, request.returns, request.constant);
}

void ema(Matrix advantages, const AdvantageRequest& request) {
  subtract(advantages, request.returns, request.average_reward);
}

void learned(Matrix advantages, const AdvantageRequest& request) {
  for (int a = 0; a < advantages.rows; ++a)
    for (int b = 0; b < advantages.cols; ++b)
      advantages(a, b) = request.returns(a, b) - request.baselines(a, b);
}

void leave_one_out(Matrix advantages, const AdvantageRequest& request) {
  const int m = request.rollouts;
  for (int a = 0; a < advantages.rows; ++a)
    for (int first = 0; first < advantages.cols; first += m) {
      const float* returns = request.returns.row(a);
      float sum = 0.0F;
      for (int b = first; b < first + m; ++b) sum += returns[b];
      for (int b = first; b < first + m; ++b)
        advantages(a, b) = returns[b] - (sum - returns[b]) / static_cast<float>(m - 1);
    }
}

void correct(std::span<float> rewards, std::span<const float> right, ConstMatrix,
             std::span<const int>) {
  std::ranges::copy(right, rewards.begin());
}

void probability(std::span<float> rewards, std::span<const float>, ConstMatrix probabilities,
                 std::span<const int> labels) {
  for (int b = 0; b < probabilities.rows; ++b) rewards[b] = probabilities(b, labels[b]);
}

const NameTable<AdvantageEstimator>& estimators() {
  static const NameTable<AdvantageEstimator> table{"reinforce.advantage",
                                                   {{"none", none},
                                                    {"constant", constant_baseline},
                                                    {"ema", ema},
                                                    {"learned", learned},
                                                    {"leave_one_out", leave_one_out}}};
  return table;
}

const NameTable<RewardKind>& rewards_table() {
  static const NameTable<RewardKind> table{"reinforce.reward",
                                           {{"correct", correct}, {"probability", probability}}};
  return table;
}

}  // namespace

AdvantageEstimator find_advantage(const std::string& name) { return estimators().at(name); }
std::vector<std::string> advantage_estimators() { return estimators().names(); }
RewardKind find_reward(const std::string& name) { return rewards_table().at(name); }
std::vector<std::string> reward_kinds() { return rewards_table().names(); }

}  // namespace saccade
