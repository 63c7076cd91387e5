#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "agent/spec/config.h"
#include "env/environment.h"
#include "nn/linear_head.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// What was true of episode b when it took step t.
using TruthAt = std::function<const SceneFacts&(int t, int b)>;

/// What a critic keeps of T steps of B episodes.
struct CriticMemory {
  int episodes = 0;           // B
  ConstMatrix x;              // (T B, ..): what it read, `informed` or the states of the episodes
  Tensor<2> informed;         // (T B, H + E): of one that reads the truth; else empty
  Tensor<2> hidden, dhidden;  // (T B, critic_hidden); of `linear` empty
};

/// The baseline network: b_t, an estimate of what follows step t from the state h_t before it,
/// which REINFORCE subtracts. Used in training only. `linear`: b = h w + c (Mnih et al. 2014).
/// `mlp`: b = relu(h W_1 + b_1) w + c. `privileged`: the same of [h | the label, one-hot |
/// the target's (x, y)], which the agent cannot know (asymmetric actor-critic, Pinto et al. 2017):
/// what does not depend on the action may be subtracted, whatever it is. Of T B rows, row t B + b
/// is step t.
class Critic {
 public:
  /// Parameters `baseline.weight` and `.bias`, or `baseline.hidden.<..>` and
  /// `baseline.output.<..>`.
  Critic(const ReinforceConfig& config, int state_size, int num_classes, ParameterLayout& layout);

  /// Whether it reads more than the states: what an agent cannot know.
  bool reads_truth() const { return informed_; }

  CriticMemory make_memory(int steps, int episodes) const;

  /// Writes b_t (T B, 1) from the states h_0 .. h_{T-1} (T B, H) of B episodes that were played.
  void forward(Matrix baselines, CriticMemory& memory, ConstMatrix states, const TruthAt& truth,
               std::span<const float> parameters) const;
  /// After forward: writes its gradients from those of the last rows, dbaselines (R, 1).
  void backward(std::span<float> gradient, ConstMatrix dbaselines, CriticMemory& memory,
                std::span<const float> parameters) const;
  /// After backward: adds to the gradients of the last states (R, H), of no more rows than there.
  void state_backward(Matrix dstates, ConstMatrix dbaselines, const CriticMemory& memory,
                      std::span<const float> parameters) const;

  /// Multiply-adds of one step, whose state is constant.
  Work work() const;

 private:
  const ParameterLayout* layout_;
  int state_size_, num_classes_;
  bool informed_;  // reads the truth
  int width_;      // of the hidden layer; 0: none
  int hidden_weight_ = -1, hidden_bias_ = -1;
  LinearHead output_;
};

std::vector<std::string> critic_kinds();
/// Whether it has a hidden layer.
bool critic_has_hidden(const std::string& kind);
/// Throws SettingError for a critic that would be told what an answer of this kind does not have.
void check_critic(const ReinforceConfig& config, AnswerKind answer);

}  // namespace saccade
