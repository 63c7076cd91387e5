#pragma once

#include <string>
#include <vector>

namespace saccade {

/// What an answer earns that was right or wrong and whose truth had this probability.
/// `correct`: 1 for the right one, else 0. `probability`: that of the truth.
using RewardKind = float (*)(bool right, float probability);
RewardKind find_reward(const std::string& name);
std::vector<std::string> reward_kinds();

}  // namespace saccade
