#include "agent/looking/locator.h"

#include <algorithm>

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {

Locator::Locator(int inputs, int hidden, const std::string& output, std::vector<float> initial_bias,
                 ParameterLayout& layout)
    : layout_(&layout),
      inputs_(inputs),
      width_(hidden),
      outputs_(static_cast<int>(initial_bias.size())),
      hidden_weight_(layout.add("locator.hidden.weight", inputs, hidden, he_normal(inputs))),
      hidden_bias_(layout.add("locator.hidden.bias", 1, hidden, constant(0))),
      output_weight_(layout.add("locator." + output + ".weight", hidden, outputs_, normal(0.01F))),
      output_bias_(layout.add(
          "locator." + output + ".bias", 1, outputs_,
          [bias = std::move(initial_bias)](RandomStream&, int, int col) { return bias[col]; })) {}

void Locator::forward(Matrix y, Matrix hidden, ConstMatrix state, std::span<const float> parameters,
                      ConstMatrix context) const {
  const auto p = [&](int index) { return layout_->view(parameters, index); };
  if (context.data == nullptr) {
    linear_relu_forward(hidden, state, p(hidden_weight_), p(hidden_bias_));
  } else {
    linear_forward(hidden, state, p(hidden_weight_), p(hidden_bias_));
    add_relu(hidden, context);
  }
  linear_forward(y, hidden, p(output_weight_), p(output_bias_));
}

void Locator::activation_backward(Matrix dhidden, ConstMatrix dy, ConstMatrix hidden,
                                  std::span<const float> parameters) const {
  multiply_transposed_b(dhidden, dy, layout_->view(parameters, output_weight_));
  relu_backward(dhidden, hidden);
}

void Locator::state_backward(Matrix dstate, ConstMatrix dhidden,
                             std::span<const float> parameters) const {
  multiply_transposed_b(dstate, dhidden, layout_->view(parameters, hidden_weight_), 1.0F);
}

void Locator::context_backward(Matrix dcontext, ConstMatrix dhidden) {
  if (dcontext.data == nullptr) return;
  for (int b = 0; b < dcontext.rows; ++b) std::fill_n(dcontext.row(b), dcontext.cols, 0.0F);
  for (int first = 0; first < dhidden.rows; first += dcontext.rows)
    add(dcontext, dhidden.row_range(first, dcontext.rows));
}

void Locator::weight_backward(std::span<float> gradient, ConstMatrix dhidden, ConstMatrix dy,
                              ConstMatrix hidden, ConstMatrix state, float beta) const {
  const auto d = [&](int index) { return layout_->view(gradient, index); };
  linear_backward(d(output_weight_), d(output_bias_), dy, hidden, beta);
  linear_backward(d(hidden_weight_), d(hidden_bias_), dhidden, state, beta);
}

Work Locator::work(Input state) const {
  return linear_work(inputs_, width_, state) + linear_work(width_, outputs_);
}

}  // namespace saccade
