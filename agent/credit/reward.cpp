#include "agent/credit/reward.h"

#include "base/name_table.h"

namespace saccade {
namespace {

float correct(bool right, float) { return right ? 1.0F : 0.0F; }
float probability(bool, float probability) { return probability; }

const NameTable<RewardKind>& rewards_table() {
  static const NameTable<RewardKind> table{
      "reinforce.reward",
      {{"correct", {correct}}, {"probability", {probability}}, {"gain", {probability, true}}}};
  return table;
}

}  // namespace

const RewardKind& find_reward(const std::string& name) { return rewards_table().at(name); }
std::vector<std::string> reward_kinds() { return rewards_table().names(); }

}  // namespace saccade
