#include "agent/credit/reward.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/name_table.h"

namespace saccade {
namespace {

float correct(bool right, float, float, const OwnValues&) { return right ? 1.0F : 0.0F; }
float probability(bool, float probability, float, const OwnValues&) { return probability; }
// Finite, even where the probability is 0.
float log_probability(bool, float probability, float, const OwnValues&) {
  return std::log(std::max(probability, std::numeric_limits<float>::min()));
}
float clipped(bool, float probability, float chance, const OwnValues&) {
  return std::max(probability - chance, 0.0F);
}

void surprise(const RewardRequest& request, Matrix rewards) {
  constexpr float least = std::numeric_limits<float>::min();
  const Tensor<3>& p = request.probabilities;
  const int classes = static_cast<int>(p.shape()[2]);
  for (int t = 0; t < rewards.rows; ++t)
    for (int b = 0; b < rewards.cols; ++b) {
      float divergence = 0.0F;
      for (int c = 0; c < classes; ++c) {
        const float before = t > 0 ? p(t - 1, b, c) : chance_of(classes);
        divergence += p(t, b, c) * std::log(std::max(p(t, b, c), least) / std::max(before, least));
      }
      rewards(t, b) = divergence;
    }
}

NameTable<RewardKind>& rewards_table() {
  static NameTable<RewardKind> table{"reinforce.reward",
                                     {{"correct", {correct}},
                                      {"probability", {probability}},
                                      {"log", {log_probability}},
                                      {"clipped", {clipped}},
                                      {"gain", {probability, true}},
                                      {"surprise", {.by_step = true, .of_beliefs = surprise}},
                                      {"own", {.by_step = true, .is_own = true}}}};
  return table;
}

}  // namespace

const RewardKind& find_reward(const std::string& name) { return rewards_table().at(name); }
std::vector<std::string> reward_kinds() { return rewards_table().names(); }
void register_reward(const std::string& name, const RewardKind& kind,
                     const std::vector<OwnSetting>& settings) {
  const bool one_function = (kind.of_answer == nullptr) != (kind.of_beliefs == nullptr);
  if (!one_function || (kind.of_beliefs && !kind.by_step) || kind.is_own)
    throw InputError("reinforce.reward: '" + name +
                     "' cannot be registered: needed: of_answer, or of_beliefs and by_step; and "
                     "not is_own");
  rewards_table().add(name, kind);
  add_own_settings("reinforce", name, settings);
}

}  // namespace saccade
