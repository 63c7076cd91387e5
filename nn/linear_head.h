#pragma once

#include <span>
#include <string>

#include "nn/parameters.h"
#include "nn/tensor.h"

namespace saccade {

/// One affine output layer: y = h W + b. b begins at 0 unless `bias` says otherwise.
class LinearHead {
 public:
  LinearHead(const std::string& name, int inputs, int outputs, const Initial& initial,
             ParameterLayout& layout, const Initial& bias = constant(0));

  /// y (R, outputs), h (R, inputs)
  void forward(Matrix y, ConstMatrix h, std::span<const float> parameters) const;
  /// Writes the head's gradients.
  void backward(std::span<float> gradient, ConstMatrix dy, ConstMatrix h) const;
  /// Adds the gradient of h to dh. If it is never called, the head is detached from its input.
  void state_backward(Matrix dh, ConstMatrix dy, std::span<const float> parameters) const;

 private:
  const ParameterLayout* layout_;
  int weight_, bias_;
};

}  // namespace saccade
