#include "nn/linear_head.h"

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {

LinearHead::LinearHead(const std::string& name, int inputs, int outputs, const Initial& initial,
                       ParameterLayout& layout, const Initial& bias)
    : layout_(&layout),
      weight_(layout.add(name + ".weight", inputs, outputs, initial)),
      bias_(layout.add(name + ".bias", 1, outputs, bias)) {}

void LinearHead::forward(Matrix y, ConstMatrix h, std::span<const float> parameters) const {
  linear_forward(y, h, layout_->view(parameters, weight_), layout_->view(parameters, bias_));
}

void LinearHead::backward(std::span<float> gradient, ConstMatrix dy, ConstMatrix h) const {
  linear_backward(layout_->view(gradient, weight_), layout_->view(gradient, bias_), dy, h);
}

void LinearHead::state_backward(Matrix dh, ConstMatrix dy,
                                std::span<const float> parameters) const {
  multiply_transposed_b(dh, dy, layout_->view(parameters, weight_), 1.0F);
}

}  // namespace saccade
