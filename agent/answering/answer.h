#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "agent/answering/stopping.h"
#include "agent/spec/episode.h"
#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// The losses of answering, summed over episodes.
struct AnswerLoss {
  double classifier = 0;  // weighted cross-entropy, nats
  double reinforce = 0;   // for actions: - sum_t log pi(a_t) A_t - entropy bonus
  double penalty = 0;     // of the attention over hidden states, and of an expected stop
};

/// The attention weights over the T states for S reads, (S, B, hops T).
struct StateWeights {
  const Tensor<3>* weights = nullptr;  // null without attention over states
  int hops = 1;
};

/// What B episodes answered, for metrics and pictures.
class AnswerRecord {
 public:
  virtual ~AnswerRecord() = default;

  /// The prediction for episode b and its label: one class; the symbols before the end mark; or the
  /// actions, which have no labels. Valid until the next call.
  virtual std::span<const int> predictions(int b) const = 0;
  virtual std::span<const int> labels(int b) const = 0;
  /// The fraction of the largest possible return that episode b missed, in [0, 1].
  virtual float error(int b) const = 0;
  /// The attention weights of the last answers.
  virtual StateWeights state_weights() const { return {}; }

  Tensor<3> probabilities;     // (S, B, C): after each step (S = T), or of each symbol (S = J)
  std::vector<float> rewards;  // (B): total reward
};

/// How an agent answers from the states h_1 .. h_T of its core, and the backward pass. The
/// workspace of an Answering (answering.h) for the B episodes of one lane. Allocates nothing after
/// construction, except for beam search.
///
/// Order of calls: begin; step for each t, after that step of the core, or answer_after; then, to
/// learn, step_rewards and backward; or, for other functions of the logits, logits_backward, any
/// number of times.
class Answer : public AnswerRecord {
 public:
  /// Call when new scenes begin.
  virtual void begin() = 0;
  /// Call when the state h_{t+1} is known. Agents with actions act now; the others answer after the
  /// last step.
  virtual void step(const StepContext& now) = 0;
  /// In place of step, for episodes without rewards: writes as probabilities what the agent
  /// would answer if look t were its last: a class (t), all symbols of a sequence, or the action
  /// (t). It does not act. Where attention.hidden.mask lets a decoder read none of the states, 0.
  virtual void answer_after(int t, std::span<const float> parameters) = 0;

  /// The number of looks after which episode b was answered, 1 .. T. An evaluation counts only
  /// these, though all T were taken.
  virtual int stopped_at(int b) const = 0;
  /// What an agent that may stop compares with a threshold to stop after look t, in [0, 1]: the
  /// probability of its answer then, or, if it learned when to stop, that of having stopped.
  /// Requires classify_every_step, and of sequences an agent that stops by itself.
  virtual float sureness(int /*t*/, int /*b*/) const { return 0.0F; }
  /// Whether its answer after look t is right. Requires the same.
  virtual bool right(int /*t*/, int /*b*/) const { return false; }

  /// Writes the rewards r_t (T, B) due to glimpse t and the answer after it, if the episode came so
  /// far. Rewards per look require episodes in sampling mode SamplingMode::training, or
  /// classify_every_step.
  virtual void step_rewards(Matrix step_rewards) const = 0;
  /// The decisions to stop of episodes in sampling mode SamplingMode::training.
  virtual StopCredit stop_credit() const { return {}; }
  /// Overwrites the gradients of the parameters and adds to core.dstate.
  virtual AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                              std::span<const float> parameters) = 0;

  /// Alternative to backward: starts the backward pass of any function of the logits from its
  /// gradient by them, (S B, C). Overwrites the gradients of the parameters, but for those of a
  /// learned stop, and adds to core.dstate. Earlier symbols or actions are constants. Requires
  /// classify_every_step.
  virtual void logits_backward(std::span<float> gradient, ConstMatrix dlogits,
                               std::span<const float> parameters) = 0;
  /// The logits of probabilities(s), (B, C).
  virtual ConstMatrix logits(int s) const = 0;
  /// The prediction at s in episode b, an index into probabilities(s); -1 after the end mark of a
  /// sequence.
  virtual int chosen(int s, int b) const = 0;
};

/// Returns how many of T steps count in an episode.
inline int counted_steps(const SceneFacts& facts, int steps) {
  return facts.length > 0 ? std::min(facts.length, steps) : steps;
}

}  // namespace saccade
