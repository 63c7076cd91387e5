#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "agent/spec/episode.h"
#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// Sums over episodes of the losses that answering has of its own.
struct AnswerLoss {
  double classifier = 0;  // weighted cross-entropy, nats
  double reinforce = 0;   // of actions: - sum_t log pi(a_t) A_t - entropy bonus
  double penalty = 0;     // of hidden-state attention
};

/// Weights that hidden-state attention gave to the T states: of S reads, (S, B, hops T).
struct StateWeights {
  const Tensor<3>* weights = nullptr;  // none where there is no attention over states
  int hops = 1;
};

/// What an agent says of what it sees, from the states h_1 .. h_T of its core, and the way back.
/// What an Answering (answering.h) keeps of the B episodes of one lane; allocates nothing after
/// construction, but for beams.
///
/// Order of calls: begin; step for each t after that of the core; then, to learn, earned and
/// backward; or, to see what mattered, logit_backward, any number of times.
class Answer {
 public:
  virtual ~Answer() = default;

  /// New scenes are there.
  virtual void begin() = 0;
  /// The state h_{t+1} is there: agents that act do so now, the others speak after the last.
  virtual void step(const Turn& turn) = 0;

  /// Writes what was earned by glimpse t and what was said after it, (T, B): r_t. A reward that is
  /// earned look by look needs episodes of Readout::training, or classify_every_step.
  virtual void earned(Matrix earned) const = 0;
  /// Writes the gradients of its parameters and adds to core.dstate.
  virtual AnswerLoss backward(std::span<float> gradient, const Credit& credit,
                              std::span<const float> parameters) = 0;

  /// In place of backward: begins the way back of one number an episode, the logit of class, symbol
  /// or action chosen[b] of probabilities(s); none where chosen[b] is -1. Adds its gradient to
  /// core.dstate; `scratch` is overwritten like a gradient. What was said before s, symbols or
  /// actions, is held as it was said. A class needs classify_every_step for s < T - 1.
  virtual void logit_backward(std::span<float> scratch, int s, std::span<const int> chosen,
                              std::span<const float> parameters) = 0;
  /// Those logits, (B, C).
  virtual ConstMatrix logits(int s) const = 0;
  /// What was said at s in episode b, of probabilities(s): -1 after the end mark of a sequence.
  virtual int chosen(int s, int b) const = 0;

  /// What was said in episode b and what would have been right: one class; the symbols before the
  /// end mark; or the actions, of which none is the right one. Valid until the next call.
  virtual std::span<const int> said(int b) const = 0;
  virtual std::span<const int> truth(int b) const = 0;
  /// Of all that could be earned in episode b, the share that was not, in [0, 1].
  virtual float error(int b) const = 0;
  /// Of the last episodes that were answered.
  virtual StateWeights state_weights() const { return {}; }

  Tensor<3> probabilities;     // (S, B, C): after each step (S = T), or of each symbol (S = J)
  std::vector<float> rewards;  // (B): all that the environment paid
};

/// Steps of T that count in an episode.
inline int counted_steps(const SceneFacts& facts, int steps) {
  return facts.length > 0 ? std::min(facts.length, steps) : steps;
}

/// Writes rows (B, C) with a one at chosen[b], or none at -1.
void choose_logits(Matrix dlogits, std::span<const int> chosen);

}  // namespace saccade
