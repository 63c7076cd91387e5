#include "agent/credit/advantage.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/credit/reward.h"
#include "base/error.h"
#include "base/name_table.h"

namespace saccade {
namespace {

// With which an episode goes on after a step.
float going_on(ConstMatrix chances, int t, int b) {
  return chances.data == nullptr ? 1.0F : 1.0F - chances(t, b);
}

// baseline(t)
template <class Baseline>
void subtract(Matrix advantages, ConstMatrix returns, const Baseline& baseline) {
  for (int t = 0; t < advantages.rows; ++t)
    for (int b = 0; b < advantages.cols; ++b) advantages(t, b) = returns(t, b) - baseline(t);
}

void none(Matrix advantages, const AdvantageRequest& request) {
  subtract(advantages, request.returns, [](int) { return 0.0F; });
}

void constant_baseline(Matrix advantages, const AdvantageRequest& request) {
  subtract(advantages, request.returns, [&](int) { return request.constant; });
}

void ema(Matrix advantages, const AdvantageRequest& request) {
  subtract(advantages, request.returns,
           [&](int t) { return static_cast<float>(request.average_returns[t]); });
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

void gae(Matrix advantages, const AdvantageRequest& request) {
  const ConstMatrix& b = request.baselines;
  const int last = advantages.rows - 1;
  const float decay = request.discount * request.trace;
  for (int t = last; t >= 0; --t)
    for (int e = 0; e < advantages.cols; ++e) {
      const float on = going_on(request.chances, t, e);
      const float next = t < last ? on * request.discount * b(t + 1, e) : 0.0F;
      advantages(t, e) = request.step_rewards(t, e) + next - b(t, e) +
                         (t < last ? on * decay * advantages(t + 1, e) : 0.0F);
    }
}

const NameTable<Advantage>& estimators() {
  static const NameTable<Advantage> table{
      "reinforce.advantage",
      {{"none", {.estimate = none}},
       {"constant", {.estimate = constant_baseline}},
       {"ema", {.estimate = ema, .averages = true}},
       {"learned", {.estimate = learned, .reads_baseline = true}},
       {"leave_one_out", {.estimate = leave_one_out, .min_rollouts = 2}},
       {"gae", {.estimate = gae, .reads_baseline = true, .traces = true}}}};
  return table;
}

}  // namespace

Trace trace_of(const ReinforceConfig& config, bool acts) {
  const bool traces = find_advantage(config.advantage).traces;
  const double discount = acts ? config.discount : 1.0;
  return {.of_returns = static_cast<float>(traces ? discount : discount * config.trace),
          .discount = static_cast<float>(discount),
          .of_advantage = static_cast<float>(config.trace)};
}

void discounted_returns(Matrix returns, ConstMatrix step_rewards, float decay,
                        ConstMatrix chances) {
  for (int t = returns.rows - 1; t >= 0; --t)
    for (int b = 0; b < returns.cols; ++b) {
      const float on = going_on(chances, t, b);
      returns(t, b) =
          step_rewards(t, b) + (t + 1 < returns.rows ? on * decay * returns(t + 1, b) : 0.0F);
    }
}

const Advantage& find_advantage(const std::string& name) { return estimators().at(name); }
std::vector<std::string> advantage_estimators() { return estimators().names(); }

void check_advantage(const std::string& name, int rollouts) {
  const int least = find_advantage(name).min_rollouts;
  if (rollouts < least)
    throw SettingError({"reinforce.advantage", "reinforce.rollouts"},
                       fmt::format("reinforce.advantage: {} needs reinforce.rollouts > {}, not {}",
                                   name, least - 1, rollouts));
}

}  // namespace saccade
