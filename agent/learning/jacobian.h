#pragma once

#include <memory>
#include <span>

#include "agent/learning/backward.h"
#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "nn/tensor.h"

namespace saccade {

/// Implicit attention: the sequential Jacobian (Graves 2012, "Supervised sequence labelling",
/// section 3.3.1), the derivative of an agent's prediction with respect to everything it saw. For
/// one logit per episode, or any function of all logits, it gives the derivatives by the canvas, by
/// each glimpse, by each feature and by the weights.
///
/// Whatever was sampled or chosen is held constant: the locations of hard kinds, the actions and
/// hence the motion of the canvas, and the symbols that a decoder produced before. Everything else
/// is differentiated: soft kinds through their weights, windows and places (so is a Gaussian with
/// reinforce.estimator: pathwise, its noise held constant), including the effect of a thumbnail of
/// the canvas (model.context) on them; a gate and attention over states through their weights. The
/// derivative by a glimpse or a feature varies one number at one step and lets all later states
/// follow.
class Jacobian {
 public:
  /// Keeps a reference to `model`.
  Jacobian(const Model& model, std::unique_ptr<Environment> environment);

  /// Plays the episodes with an answer after every step.
  void run(std::span<const float> parameters, RolloutRequest request);
  /// After run, any number of times: writes the three tensors for the logit of class, symbol or
  /// action chosen[b] of answer->probabilities(s); zeros where chosen[b] is -1.
  void backward(std::span<const float> parameters, int s, std::span<const int> chosen);
  /// The same for the function of the logits whose gradient by them is dlogits (S B, C).
  void backward(std::span<const float> parameters, ConstMatrix dlogits);

  /// After backward: the gradient by the weights, summed over the episodes; a block of the layout.
  /// Those that only choose what is held constant, and a critic's, are 0.
  std::span<const float> gradient() const { return flat(gradient_); }

  Rollout rollout;
  Tensor<2> dcanvases;  // (B, channels rows cols): summed over the steps if the canvas moves
  Tensor<3> dglimpses;  // (T, B, D); D = 0 if features are averaged or the canvas is seen whole
  Tensor<3> dfeatures;  // (T, B, F): of the features that the looks wrote, before a gate

 private:
  const Model& model_;
  BackwardMemory memory_;
  Tensor<1> gradient_;    // one block of the layout
  Tensor<3> dlogits_;     // (S, B, C)
  Tensor<2> advantages_;  // (T, B): all zero
};

}  // namespace saccade
