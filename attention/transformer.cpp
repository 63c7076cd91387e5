#include "attention/transformer.h"

#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

constexpr int inner_width(int width) { return 2 * width; }

}  // namespace

LayerNormMemory::LayerNormMemory(int steps_, int episodes, int width)
    : steps(steps_),
      normalized(zeros<3>(steps, episodes, width)),
      inverse_deviation(zeros<3>(steps, episodes, 1)),
      dgain(zeros<2>(1, width)),
      dshift(zeros<2>(1, width)) {}

LayerNorm::LayerNorm(const std::string& name, int width, ParameterLayout& layout)
    : layout_(layout),
      gain_(layout.add(name + ".gain", 1, width, constant(1))),
      shift_(layout.add(name + ".shift", 1, width, constant(0))) {}

void LayerNorm::forward(Matrix y, LayerNormMemory& memory, int t, ConstMatrix x,
                        std::span<const float> parameters) const {
  layer_norm_forward(y, step(memory.normalized, t), step(memory.inverse_deviation, t), x,
                     layout_.view(parameters, gain_), layout_.view(parameters, shift_));
}

void LayerNorm::backward(Matrix dx, LayerNormMemory& memory, int t, Matrix dy,
                         std::span<const float> parameters) const {
  if (t == memory.steps - 1) {
    memory.dgain.fill(0.0F);
    memory.dshift.fill(0.0F);
  }
  layer_norm_backward(dx, matrix(memory.dgain), matrix(memory.dshift), dy,
                      step(memory.normalized, t), step(memory.inverse_deviation, t),
                      layout_.view(parameters, gain_));
}

void LayerNorm::weight_backward(std::span<float> gradient, const LayerNormMemory& memory) const {
  copy_rows(layout_.view(gradient, gain_), matrix(memory.dgain));
  copy_rows(layout_.view(gradient, shift_), matrix(memory.dshift));
}

FeedForwardMemory::FeedForwardMemory(int steps, int episodes, int inner)
    : hidden(zeros<3>(steps, episodes, inner)), dhidden(zeros<3>(steps, episodes, inner)) {}

FeedForward::FeedForward(const std::string& name, int width, int inner, ParameterLayout& layout)
    : width_(width),
      inner_(inner),
      layout_(layout),
      hidden_weight_(layout.add(name + ".hidden.weight", width, inner, he_normal(width))),
      hidden_bias_(layout.add(name + ".hidden.bias", 1, inner, constant(0))),
      output_weight_(layout.add(name + ".output.weight", inner, width, uniform_fan_in(inner))),
      output_bias_(layout.add(name + ".output.bias", 1, width, constant(0))) {}

void FeedForward::forward(Matrix y, FeedForwardMemory& memory, int t, ConstMatrix x,
                          std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_.view(parameters, index); };
  const Matrix hidden = step(memory.hidden, t);
  linear_relu_forward(hidden, x, p(hidden_weight_), p(hidden_bias_));
  multiply(y, hidden, p(output_weight_), 1.0F);
  add_bias(y, p(output_bias_));
}

void FeedForward::backward(Matrix dx, FeedForwardMemory& memory, int t, ConstMatrix dy,
                           std::span<const float> parameters) const {
  const Matrix dhidden = step(memory.dhidden, t);
  multiply_transposed_b(dhidden, dy, layout_.view(parameters, output_weight_));
  relu_backward(dhidden, step(memory.hidden, t));
  multiply_transposed_b(dx, dhidden, layout_.view(parameters, hidden_weight_));
}

void FeedForward::weight_backward(std::span<float> gradient, const FeedForwardMemory& memory,
                                  ConstMatrix dy, ConstMatrix x) const {
  const auto d = [&](int index) { return layout_.view(gradient, index); };
  linear_backward(d(output_weight_), d(output_bias_), dy, matrix(memory.hidden));
  linear_backward(d(hidden_weight_), d(hidden_bias_), matrix(memory.dhidden), x);
}

Work FeedForward::work() const { return linear_work(width_, inner_) + linear_work(inner_, width_); }

TransformerLayerMemory::TransformerLayerMemory(int steps, int episodes, int width)
    : attention_norm(steps, episodes, width),
      forward_norm(steps, episodes, width),
      attention(steps, episodes, width),
      forward(steps, episodes, inner_width(width)),
      attention_input(zeros<3>(steps, episodes, width)),
      forward_input(zeros<3>(steps, episodes, width)),
      dmiddle(zeros<3>(steps, episodes, width)),
      dy(zeros<3>(steps, episodes, width)),
      dinput(zeros<2>(episodes, width)) {}

TransformerLayer::TransformerLayer(const std::string& name, int width, int heads,
                                   ParameterLayout& layout)
    : attention_norm_(name + ".attention.norm", width, layout),
      attention_(name + ".attention", width, heads, layout),
      forward_norm_(name + ".forward.norm", width, layout),
      forward_(name + ".forward", width, inner_width(width), layout) {}

void TransformerLayer::forward(Matrix x, Matrix weights, TransformerLayerMemory& memory, int t,
                               std::span<const float> parameters) const {
  Matrix input = step(memory.attention_input, t);
  attention_norm_.forward(input, memory.attention_norm, t, x, parameters);
  attention_.forward(x, weights, memory.attention, t, input, parameters);
  input = step(memory.forward_input, t);
  forward_norm_.forward(input, memory.forward_norm, t, x, parameters);
  forward_.forward(x, memory.forward, t, input, parameters);
}

void TransformerLayer::backward(Matrix dx, TransformerLayerMemory& memory, int t,
                                ConstMatrix weights, std::span<const float> parameters) const {
  const Matrix dy = step(memory.dy, t), dmiddle = step(memory.dmiddle, t);
  const Matrix dinput = matrix(memory.dinput);
  copy_rows(dmiddle, dy);
  forward_.backward(dinput, memory.forward, t, dy, parameters);
  forward_norm_.backward(dmiddle, memory.forward_norm, t, dinput, parameters);
  copy_rows(dx, dmiddle);
  attention_.backward(dinput, memory.attention, t, dmiddle, weights, parameters);
  attention_norm_.backward(dx, memory.attention_norm, t, dinput, parameters);
}

void TransformerLayer::weight_backward(std::span<float> gradient,
                                       const TransformerLayerMemory& memory) const {
  attention_norm_.weight_backward(gradient, memory.attention_norm);
  attention_.weight_backward(gradient, memory.attention, matrix(memory.dmiddle),
                             matrix(memory.attention_input));
  forward_norm_.weight_backward(gradient, memory.forward_norm);
  forward_.weight_backward(gradient, memory.forward, matrix(memory.dy),
                           matrix(memory.forward_input));
}

Work TransformerLayer::work(int steps) const {
  return attention_.work(steps) + forward_.work() * steps;
}

}  // namespace saccade
