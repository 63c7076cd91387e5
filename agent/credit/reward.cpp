#include "agent/credit/reward.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/name_table.h"

namespace saccade {
namespace {

float correct(bool right, float, float) { return right ? 1.0F : 0.0F; }
float probability(bool, float probability, float) { return probability; }
// Finite, even where the probability is 0.
float log_probability(bool, float probability, float) {
  return std::log(std::max(probability, std::numeric_limits<float>::min()));
}
float nothing(bool, float, float) { return 0.0F; }
float clipped(bool, float probability, float chance) {
  return std::max(probability - chance, 0.0F);
}

const NameTable<RewardKind>& rewards_table() {
  static const NameTable<RewardKind> table{"reinforce.reward",
                                           {{"correct", {correct}},
                                            {"probability", {probability}},
                                            {"log", {log_probability}},
                                            {"clipped", {clipped}},
                                            {"gain", {probability, true}},
                                            {"own", {nothing, /*by_step=*/true, /*is_own=*/true}}}};
  return table;
}

}  // namespace

const RewardKind& find_reward(const std::string& name) { return rewards_table().at(name); }
std::vector<std::string> reward_kinds() { return rewards_table().names(); }

}  // namespace saccade
