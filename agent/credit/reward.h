#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/own_part.h"
#include "base/own_settings.h"
#include "env/scene_facts.h"
#include "nn/tensor.h"

namespace saccade {

/// What a reward of beliefs is computed from: B episodes that answered after every look.
struct RewardRequest {
  const Tensor<3>& probabilities;     // (T, B, C): of the classes, after each look
  std::span<const SceneFacts> facts;  // (B)
  const Tensor<3>& locations;         // (T, B, L): where it looked; empty if looks have no place
  const OwnValues* own = nullptr;     // reinforce.<reward>.<..> of registered rewards
};

/// A reward of beliefs: writes r_t, (T, B), what look t earns. Called once a lane, by any of the
/// threads and several at once, so it must depend on nothing but the request, or runs do not
/// repeat.
using RewardFunction = std::function<void(const RewardRequest& request, Matrix rewards)>;

/// What the looks of an episode with one answer earn.
struct RewardKind {
  /// Of an answer that was right or wrong, whose truth had this probability, in [0, 1], where
  /// chance, in (0, 1], is one over the number of answers. `own`: reinforce.<reward>.<..> of
  /// registered rewards.
  float (*of_answer)(bool right, float probability, float chance, const OwnValues& own) = nullptr;
  /// Whether it is earned look by look, as the truth's probability grows, r_t = p_t - p_{t-1}: an
  /// answer is then asked for after every glimpse. Before the first all answers are as likely.
  bool by_step = false;
  /// In place of of_answer: computes it from the probabilities of all classes after every look.
  RewardFunction of_beliefs = nullptr;
  /// Whether a program gives of_beliefs.
  bool is_own = false;

  bool reads_beliefs() const { return is_own || of_beliefs; }
};

/// `correct`: at the end, 1 for the right answer, else 0. `probability`: at the end, that of the
/// truth, p. `log`: log p, at least -88. `clipped`: max(p - chance, 0), the clipped linear reward
/// of Li et al. 2023 (Internally Rewarded Reinforcement Learning), who compare it with `correct`
/// and `log`: the gradient of the classifier that pays is noisy, and `log` passes on most of the
/// noise. `gain`: after every look, by how much p grew, which shapes `probability` by a potential
/// (Ng, Harada and Russell 1999): with reinforce.trace: 1 what follows a look adds up to the same,
/// less what does not depend on it. `surprise`: after every look, by how much it changed the
/// belief, KL(p_t || p_{t-1}) in nats over all classes (Itti and Baldi 2009), whatever the truth.
/// `own`: what a program's RewardFunction says. Throws InputError listing the names.
const RewardKind& find_reward(const std::string& name);
std::vector<std::string> reward_kinds();
/// Adds a reward of the program that calls it, before anything else is called, with settings
/// reinforce.<name>.<..>. Throws as NameTable::add and add_own_settings do, and InputError for a
/// reward with neither or both functions, one of_beliefs that is not by_step, and one that is_own.
void register_reward(const std::string& name, const RewardKind& kind,
                     const std::vector<OwnSetting>& settings = {});

/// The probability of each of so many answers, all as likely.
inline float chance_of(int answers) { return 1.0F / static_cast<float>(answers); }

/// Writes r_t, (T, B), from worth(t, b): that of the answer that is given after look t, one of so
/// many. Asks for the last look alone where nothing is earned before. `chances` (T, B), if it has
/// data: c_t, with which the answer is given after look t, if the episode came so far; what is
/// earned at the end is then earned with that chance, r_t = c_t worth(t, b). Each look after the
/// first costs `price`.
template <class Worth>
void write_step_rewards(Matrix step_rewards, const RewardKind& reward, int answers,
                        const Worth& worth, ConstMatrix chances = {}, float price = 0.0F) {
  const int last = step_rewards.rows - 1;
  const float chance = chance_of(answers);
  for (int t = 0; t <= last; ++t)
    for (int b = 0; b < step_rewards.cols; ++b) {
      if (reward.by_step)
        step_rewards(t, b) = worth(t, b) - (t > 0 ? worth(t - 1, b) : chance);
      else if (chances.data != nullptr)
        step_rewards(t, b) = chances(t, b) * worth(t, b);
      else
        step_rewards(t, b) = t == last ? worth(t, b) : 0.0F;
      if (t > 0) step_rewards(t, b) -= price;
    }
}

}  // namespace saccade
