#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Where to look next: y = W_2 relu(W_1 h + b_1) + b_2, which each way of looking interprets as its
/// own kind of place. For REINFORCE the state is detached: state_backward is not called. A context
/// network (context_network.h) adds its contribution to the hidden layer, which then reads [h | c].
class Locator {
 public:
  /// Parameters `locator.hidden.weight`, `locator.hidden.bias`, and those of the output layer,
  /// `locator.<output>.weight` and `.bias`, which is initialised to `initial_bias` (outputs).
  Locator(int inputs, int hidden, const std::string& output, std::vector<float> initial_bias,
          ParameterLayout& layout);

  /// y (R, outputs), hidden (R, width), state (R, H); context (R, width), or no data
  void forward(Matrix y, Matrix hidden, ConstMatrix state, std::span<const float> parameters,
               ConstMatrix context = {}) const;
  /// Overwrites dhidden (R, width), before its activation.
  void activation_backward(Matrix dhidden, ConstMatrix dy, ConstMatrix hidden,
                           std::span<const float> parameters) const;
  /// Adds the gradient of the state to dstate (R, H).
  void state_backward(Matrix dstate, ConstMatrix dhidden, std::span<const float> parameters) const;
  /// Overwrites dcontext (B, width) with the sum over all steps of dhidden (n B, width); does
  /// nothing if dcontext has no data.
  static void context_backward(Matrix dcontext, ConstMatrix dhidden);
  /// Overwrites the locator's gradients (beta = 0) or adds to them (beta = 1).
  void weight_backward(std::span<float> gradient, ConstMatrix dhidden, ConstMatrix dy,
                       ConstMatrix hidden, ConstMatrix state, float beta = 0.0F) const;

  int hidden_size() const { return width_; }
  /// Multiply-adds of placing one glimpse. Detached states are constant.
  Work work(Input state) const;

 private:
  const ParameterLayout* layout_;
  int inputs_, width_, outputs_;
  int hidden_weight_, hidden_bias_, output_weight_, output_bias_;
};

}  // namespace saccade
