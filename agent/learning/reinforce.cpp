#include "agent/learning/reinforce.h"

#include <fmt/format.h>

#include <algorithm>

#include "nn/error.h"
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

const NameTable<Advantage>& estimators() {
  static const NameTable<Advantage> table{
      "reinforce.advantage",
      {{"none", {.estimate = none}},
       {"constant", {.estimate = constant_baseline}},
       {"ema", {.estimate = ema}},
       {"learned", {.estimate = learned, .reads_baseline = true}},
       {"leave_one_out", {.estimate = leave_one_out, .min_rollouts = 2}}}};
  return table;
}

}  // namespace

const Advantage& find_advantage(const std::string& name) { return estimators().at(name); }
std::vector<std::string> advantage_estimators() { return estimators().names(); }

void check_advantage(const std::string& name, int rollouts) {
  const int least = find_advantage(name).min_rollouts;
  if (rollouts < least)
    throw InputError(fmt::format("reinforce.advantage: {} needs reinforce.rollouts > {}, not {}",
                                 name, least - 1, rollouts));
}

}  // namespace saccade
