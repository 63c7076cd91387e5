#pragma once

#include "agent/work.h"
#include "nn/parameters.h"
#include "nn/tensor.h"

namespace saccade {

/// What was seen and where, in one feature (Mnih et al. 2014, section 3.1 and figure 1B):
///   g = relu(W_3 relu(W_1 rho + b_1) + W_4 relu(W_2 l + b_2) + b)
/// [W_3; W_4] are one parameter: the two inner activations lie side by side in `joint`.
class GlimpseNetwork {
 public:
  struct Sizes {
    int glimpse;   // D
    int what;      // width of W_1
    int where;     // width of W_2
    int features;  // F
  };

  GlimpseNetwork(const Sizes& sizes, ParameterLayout& layout);

  int joint_size() const { return sizes_.what + sizes_.where; }

  /// feature (R, F), joint (R, what + where), glimpse (R, D), location (R, 2)
  void forward(Matrix feature, Matrix joint, ConstMatrix glimpse, ConstMatrix location,
               std::span<const float> parameters) const;
  /// Writes this network's gradients. Overwrites dfeature by its gradient before the activation,
  /// and uses djoint (R, what + where) as scratch. Neither glimpse nor location gets a gradient.
  void backward(std::span<float> gradient, Matrix djoint, Matrix dfeature, ConstMatrix feature,
                ConstMatrix joint, ConstMatrix glimpse, ConstMatrix location,
                std::span<const float> parameters) const;

  /// Multiply-adds of one glimpse.
  Work work() const;

 private:
  Sizes sizes_;
  const ParameterLayout* layout_;
  int what_weight_, what_bias_, where_weight_, where_bias_, joint_weight_, joint_bias_;
};

}  // namespace saccade
