#include "agent/cores/core.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

class Rnn final : public Core {
 public:
  Rnn(const std::string& name, const CoreSizes& sizes, ParameterLayout& layout)
      : Core(sizes), layout_(layout) {
    const int features = sizes.features, hidden = sizes.hidden;
    const Initial from_feature = uniform_fan_in(features);
    weight_ = layout.add(name + ".weight", features + hidden, hidden,
                         [=](RandomStream& stream, int row, int col) {
                           if (row < features) return from_feature(stream, row, col);
                           return row - features == col ? 1.0F : 0.0F;
                         });
    bias_ = layout.add(name + ".bias", 1, hidden, constant(0));
  }

  void forward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    Matrix h = memory.state(t + 1);
    multiply_input(h, memory, t, layout_.view(parameters, weight_));
    bias_relu(h, layout_.view(parameters, bias_));
  }

  void step_backward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    Matrix dz = step(memory.dstate, t);  // of h_{t+1}, becomes that before the relu
    relu_backward(dz, memory.state(t + 1));
    if (t == memory.steps - 1) memory.transposed.take(layout_.view(parameters, weight_));
    const ConstMatrix w_h = memory.transposed.view().columns(features_, hidden_);
    if (t > 0) multiply(step(memory.dstate, t - 1), dz, w_h, 1.0F);
  }

  void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                        std::span<const float>) const override {
    multiply(dfeatures, memory.steps_of(memory.dstate, first, count),
             memory.transposed.view().columns(0, features_));
  }

  void weight_backward(std::span<float> gradient, CoreMemory& memory) const override {
    input_weight_backward(layout_.view(gradient, weight_), layout_.view(gradient, bias_),
                          matrix(memory.dstate), memory);
  }

  Work work(int steps) const override {
    return linear_work(features_, hidden_) * steps + linear_work(hidden_, hidden_) * (steps - 1);
  }

 private:
  const ParameterLayout& layout_;
  int weight_, bias_;
};

}  // namespace

std::unique_ptr<Core> make_rnn(const std::string& name, const CoreSizes& sizes,
                               ParameterLayout& layout) {
  return std::make_unique<Rnn>(name, sizes, layout);
}

}  // namespace saccade
