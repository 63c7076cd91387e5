#include "agent/learning/reinforce.h"

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

void constant(Matrix advantages, const AdvantageRequest& request) {
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
  static const NameTable<Advantage> table{"reinforce.advantage",
                                          {{"none", {none}},
                                           {"constant", {constant}},
                                           {"ema", {ema}},
                                           {"learned", {learned, true}},
                                           {"leave_one_out", {leave_one_out}}}};
  return table;
}

}  // namespace

const Advantage& find_advantage(const std::string& name) { return estimators().at(name); }
std::vector<std::string> advantage_estimators() { return estimators().names(); }

}  // namespace saccade
