#include "agent/cores/core.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// h_t = relu(W g_t + b): no memory, so only attention over the states combines the glimpses. For
// bags of glimpses, whose order carries no information.
class Feedforward final : public Core {
 public:
  Feedforward(const std::string& name, const CoreSizes& sizes, ParameterLayout& layout)
      : Core(sizes), layout_(layout) {
    weight_ = layout.add(name + ".weight", sizes.features, sizes.hidden, he_normal(sizes.features));
    bias_ = layout.add(name + ".bias", 1, sizes.hidden, constant(0));
  }

  void forward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    linear_relu_forward(memory.state(t + 1), memory.feature(t), layout_.view(parameters, weight_),
                        layout_.view(parameters, bias_));
  }

  void step_backward(CoreMemory& memory, int t, std::span<const float>) const override {
    relu_backward(step(memory.dstate, t), memory.state(t + 1));
  }

  void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                        std::span<const float> parameters) const override {
    multiply_transposed_b(dfeatures, memory.steps_of(memory.dstate, first, count),
                          layout_.view(parameters, weight_));
  }

  void weight_backward(std::span<float> gradient, CoreMemory& memory) const override {
    linear_backward(layout_.view(gradient, weight_), layout_.view(gradient, bias_),
                    matrix(memory.dstate), memory.all_features());
  }

  Work work(int steps) const override { return linear_work(features_, hidden_) * steps; }

 private:
  const ParameterLayout& layout_;
  int weight_, bias_;
};

}  // namespace

std::unique_ptr<Core> make_feedforward(const std::string& name, const CoreSizes& sizes,
                                       ParameterLayout& layout) {
  return std::make_unique<Feedforward>(name, sizes, layout);
}

}  // namespace saccade
