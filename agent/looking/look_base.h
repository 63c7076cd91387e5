#pragma once

#include "agent/cores/core.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/look.h"
#include "env/environment.h"

namespace saccade {

/// Common base of the looks of all families.
class LookBase : public Look {
 protected:
  /// `num_actions` is A; `glimpse_size` is D, or 0 if no glimpse is stored.
  LookBase(int num_actions, int glimpse_size, Environment& environment, CoreMemory& core);

  int episodes() const { return core_.episodes(); }
  int steps() const { return core_.steps; }
  int glimpse_size() const { return static_cast<int>(glimpses.shape()[2]); }
  /// Where the look before step t was; no data at the first.
  ConstMatrix from(int t) const {
    return t > 0 ? ConstMatrix(step(locations, t - 1)) : ConstMatrix{};
  }

  Environment& environment_;
  CoreMemory& core_;
};

/// One pass of the glimpse network per step, from glimpses(t) and locations(t) of a look to the
/// core's feature(t), and its backward pass.
class GlimpsePass {
 public:
  /// Keeps references to all arguments.
  GlimpsePass(const GlimpseParts& parts, Look& look, CoreMemory& core);

  /// Writes feature(t).
  void forward(int t, std::span<const float> parameters);
  /// Steps first .. first + count - 1: turns dfeatures (count B, F) into the gradient before the
  /// activation.
  void activation_backward(Matrix dfeatures, int first, int count,
                           std::span<const float> parameters);
  /// After activation_backward of step t: overwrites dglimpse (B, D) and dlocation (B, L).
  void input_backward(Matrix dglimpse, Matrix dlocation, int t, std::span<const float> parameters);
  /// After activation_backward of all steps; dfeatures (T B, F). Overwrites the network's gradients
  /// (beta = 0) or adds to them (beta = 1).
  void weight_backward(std::span<float> gradient, Matrix dfeatures, float beta = 0.0F);

  /// After activation_backward of all steps: overwrites dglimpses (T, B, D).
  void glimpse_backward(Tensor<3>& dglimpses, std::span<const float> parameters);
  /// The same, and adds to dcanvases the gradient through the retina at locations(t).
  void retina_backward(Matrix dcanvases, Tensor<3>& dglimpses, const Environment& environment,
                       std::span<const float> parameters);

 private:
  // dwhat of `count` steps: the first columns of djoint.
  Matrix dwhat(int first, int count);

  const GlimpseNetwork& network_;
  GlimpseInput input_;
  Look& look_;
  CoreMemory& core_;
  Tensor<3> joint_;   // (T, B, what + where): inside the glimpse network
  Tensor<3> djoint_;  // (T, B, what + where)
};

}  // namespace saccade
