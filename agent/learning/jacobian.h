#pragma once

#include <memory>
#include <span>

#include "agent/learning/backward.h"
#include "agent/model/model.h"
#include "agent/model/rollout.h"
#include "nn/tensor.h"

namespace saccade {

/// Implicit attention: the sequential Jacobian (Graves 2012, "Supervised sequence labelling",
/// section 3.3.1), of what an agent said with respect to all that it saw. Of one logit an episode
/// it gives the derivatives by the canvas, by each glimpse and by each feature.
///
/// Held as they were played are whatever was drawn or chosen: the locations of hard kinds, the
/// actions and with them how the canvas moved, and the symbols that a decoder said before. Nothing
/// else is: soft kinds are derived through their weights, windows and places too (so is a Gaussian
/// by reinforce.estimator: pathwise, with its noise held), also as far as a thumbnail of the canvas
/// (model.context) placed them, a gate and attention over states through theirs. The derivative by
/// a glimpse or a feature is that by one number at one step, all others being free to follow
/// through the states.
class Jacobian {
 public:
  /// Keeps a reference to `model`.
  Jacobian(const Model& model, std::unique_ptr<Environment> environment);

  /// Plays the episodes, with an answer after every step.
  void run(std::span<const float> parameters, RolloutRequest request);
  /// After run, any number of times: writes the three tensors for the logit of class, symbol or
  /// action chosen[b] of answer->probabilities(s); zeros where it is -1.
  void backward(std::span<const float> parameters, int s, std::span<const int> chosen);

  Rollout rollout;
  Tensor<2> dcanvases;  // (B, channels rows cols): where the canvas moves, summed over the steps
  Tensor<3> dglimpses;  // (T, B, D); D = 0 where features are averaged, or the canvas is seen whole
  Tensor<3> dfeatures;  // (T, B, F): of the features that the looks wrote, before a gate

 private:
  const Model& model_;
  BackwardMemory memory_;
  Tensor<1> scratch_;     // one block of the layout
  Tensor<2> advantages_;  // (T, B): none
};

}  // namespace saccade
