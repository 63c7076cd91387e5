#include "agent/cores/core.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

struct GruMemory final : CoreExtension {
  GruMemory(int steps, int episodes, int hidden)
      : gates(zeros<3>(steps, episodes, 4 * hidden)), dgates(gates) {}

  Tensor<3> gates, dgates;  // (T, B, 4 H): after, and gradients before, their activations
};

GruMemory& gru_memory_of(const CoreMemory& memory) {
  return static_cast<GruMemory&>(*memory.extension);
}

// For one episode: writes dgate (4 H). Vectorises.
void gru_row_backward(float* __restrict dgate, const float* __restrict dh,
                      const float* __restrict old, const float* __restrict gate, int n) {
  for (int j = 0; j < n; ++j) {
    const float r = gate[j], z = gate[n + j], content = gate[2 * n + j];
    const float recurrent = gate[3 * n + j];
    const float dcontent = dh[j] * (1.0F - z) * (1.0F - content * content);
    dgate[j] = dcontent * recurrent * r * (1.0F - r);
    dgate[n + j] = dh[j] * (old[j] - content) * z * (1.0F - z);
    dgate[2 * n + j] = dcontent;
    dgate[3 * n + j] = dcontent * r;
  }
}

// Gates lie side by side as [r | z | n | q]: reset gate, update gate, candidate state, and the
// state's contribution to it:  q = U h + c,  n = tanh(W g + b + r q),  h' = (1 - z) n + z h.
class Gru final : public Core {
 public:
  Gru(const std::string& name, const CoreSizes& sizes, ParameterLayout& layout)
      : Core(sizes), layout_(layout) {
    const int features = sizes.features, hidden = sizes.hidden;
    const Initial initial = uniform_fan_in(hidden);
    gates_weight_ = layout.add(name + ".gates.weight", features + hidden, 2 * hidden, initial);
    gates_bias_ = layout.add(name + ".gates.bias", 1, 2 * hidden, constant(0));
    content_weight_ = layout.add(name + ".content.weight", features, hidden, initial);
    content_bias_ = layout.add(name + ".content.bias", 1, hidden, constant(0));
    recurrent_weight_ = layout.add(name + ".recurrent.weight", hidden, hidden, initial);
    recurrent_bias_ = layout.add(name + ".recurrent.bias", 1, hidden, constant(0));
  }

  CoreMemory make_memory(int steps, int episodes) const override {
    return {steps, episodes, sizes_, std::make_unique<GruMemory>(steps, episodes, hidden_)};
  }

  void forward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    const int n = hidden_;
    const auto p = [&](int index) { return layout_.view(parameters, index); };
    const Matrix gates = step(gru_memory_of(memory).gates, t);
    multiply_input(gates.columns(0, 2 * n), memory, t, p(gates_weight_));
    multiply(gates.columns(2 * n, n), memory.feature(t), p(content_weight_));
    multiply(gates.columns(3 * n, n), memory.state(t), p(recurrent_weight_));

    const float* gates_bias = p(gates_bias_).data;
    const float* content_bias = p(content_bias_).data;
    const float* recurrent_bias = p(recurrent_bias_).data;
    for (int b = 0; b < gates.rows; ++b) {
      float* gate = gates.row(b);
      float* content = gate + 2 * n;
      float* recurrent = gate + 3 * n;
      for (int j = 0; j < 2 * n; ++j) gate[j] += gates_bias[j];
      sigmoid(gate, 2 * n);
      for (int j = 0; j < n; ++j) {
        recurrent[j] += recurrent_bias[j];
        content[j] += content_bias[j] + gate[j] * recurrent[j];
      }
      tanh(content, n);
      const float* old = memory.state(t).row(b);
      float* h = memory.state(t + 1).row(b);
      for (int j = 0; j < n; ++j) h[j] = content[j] + gate[n + j] * (old[j] - content[j]);
    }
  }

  void step_backward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    const int n = hidden_;
    cell_backward(memory, t);
    if (t == memory.steps - 1) memory.transposed.take(layout_.view(parameters, gates_weight_));
    if (t == 0) return;
    const ConstMatrix dz = step(gru_memory_of(memory).dgates, t);
    const Matrix dh = step(memory.dstate, t - 1);
    multiply(dh, dz.columns(0, 2 * n), memory.transposed.view().columns(features_, n), 1.0F);
    multiply_transposed_b(dh, dz.columns(3 * n, n), layout_.view(parameters, recurrent_weight_),
                          1.0F);
  }

  void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                        std::span<const float> parameters) const override {
    const int n = hidden_;
    const ConstMatrix dz = memory.steps_of(gru_memory_of(memory).dgates, first, count);
    multiply(dfeatures, dz.columns(0, 2 * n), memory.transposed.view().columns(0, features_));
    multiply_transposed_b(dfeatures, dz.columns(2 * n, n),
                          layout_.view(parameters, content_weight_), 1.0F);
  }

  void weight_backward(std::span<float> gradient, CoreMemory& memory) const override {
    const int n = hidden_;
    const auto d = [&](int index) { return layout_.view(gradient, index); };
    const ConstMatrix dz = matrix(gru_memory_of(memory).dgates);
    input_weight_backward(d(gates_weight_), d(gates_bias_), dz.columns(0, 2 * n), memory);
    linear_backward(d(content_weight_), d(content_bias_), dz.columns(2 * n, n),
                    memory.all_features());
    linear_backward(d(recurrent_weight_), d(recurrent_bias_), dz.columns(3 * n, n),
                    memory.all_states());
  }

  Work work(int steps) const override {
    return linear_work(features_, 3 * hidden_) * steps +
           linear_work(hidden_, 3 * hidden_) * (steps - 1);
  }

 private:
  // Maps the gradient of h_{t+1} to those of the gates before their activations, and to the part of
  // h_t's gradient that passes through no weight.
  void cell_backward(CoreMemory& memory, int t) const {
    GruMemory& own = gru_memory_of(memory);
    for (int b = 0; b < memory.episodes(); ++b) {
      const float* gate = step(own.gates, t).row(b);
      const float* dh = step(memory.dstate, t).row(b);
      gru_row_backward(step(own.dgates, t).row(b), dh, memory.state(t).row(b), gate, hidden_);
      if (t == 0) continue;
      float* dold = step(memory.dstate, t - 1).row(b);
      for (int j = 0; j < hidden_; ++j) dold[j] += dh[j] * gate[hidden_ + j];
    }
  }

  const ParameterLayout& layout_;
  int gates_weight_, gates_bias_, content_weight_, content_bias_, recurrent_weight_,
      recurrent_bias_;
};

}  // namespace

std::unique_ptr<Core> make_gru(const std::string& name, const CoreSizes& sizes,
                               ParameterLayout& layout) {
  return std::make_unique<Gru>(name, sizes, layout);
}

}  // namespace saccade
