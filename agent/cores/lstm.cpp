#include <algorithm>
#include <limits>

#include "agent/cores/core.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

struct LstmMemory final : CoreExtension {
  LstmMemory(int steps, int episodes, int hidden)
      : gates(zeros<3>(steps, episodes, 4 * hidden)),
        dgates(zeros<3>(steps, episodes, spread_stride(4 * hidden))),
        cell(zeros<3>(steps + 1, episodes, hidden)),
        dcell(zeros<2>(episodes, hidden)) {}

  Tensor<3> gates;    // (T, B, 4 H): after their activations
  Tensor<3> dgates;   // (T, B, 4 H, padded): gradients before their activations
  SpreadCopy weight;  // (F + H, 4 H)
  Tensor<3> cell;     // (T + 1, B, H): c_0 = 0 .. c_T
  Tensor<2> dcell;    // (B, H)
};

LstmMemory& lstm_memory_of(const CoreMemory& memory) {
  return static_cast<LstmMemory&>(*memory.extension);
}

// For one episode: writes dgate (4 H), and turns dcell (H) from the gradient of c_{t+1} into that
// of c_t. Free of branches, so that it vectorises.
void lstm_row_backward(float* __restrict dgate, float* __restrict dcell, const float* __restrict dh,
                       const float* __restrict h, const float* __restrict gate,
                       const float* __restrict old_cell, int n) {
  for (int j = 0; j < n; ++j) {
    const float i = gate[j], f = gate[n + j], o = gate[2 * n + j], content = gate[3 * n + j];
    // o > 0 but may round to 0; then h is 0 too.
    const float tanh_cell = h[j] / std::max(o, std::numeric_limits<float>::min());
    const float dc = dcell[j] + dh[j] * o * (1.0F - tanh_cell * tanh_cell);
    dgate[j] = dc * content * i * (1.0F - i);
    dgate[n + j] = dc * old_cell[j] * f * (1.0F - f);
    dgate[2 * n + j] = dh[j] * h[j] * (1.0F - o);  // tanh(c) o (1 - o)
    dgate[3 * n + j] = dc * i * (1.0F - content * content);
    dcell[j] = dc * f;
  }
}

// Gates lie side by side as [i | f | o | n]: input, forget and output gate, then the candidate.
//   c_t = f c_{t-1} + i n,   h_t = o tanh(c_t)
class Lstm final : public Core {
 public:
  Lstm(const std::string& name, const CoreSizes& sizes, ParameterLayout& layout)
      : Core(sizes), layout_(layout) {
    const int features = sizes.features, hidden = sizes.hidden;
    weight_ = layout.add(name + ".weight", features + hidden, 4 * hidden, uniform_fan_in(hidden));
    bias_ = layout.add(name + ".bias", 1, 4 * hidden, [hidden](RandomStream&, int, int col) {
      return col / hidden == 1 ? 1.0F : 0.0F;  // forget bias 1: remember at first
    });
  }

  CoreMemory make_memory(int steps, int episodes) const override {
    return {steps, episodes, sizes_, std::make_unique<LstmMemory>(steps, episodes, hidden_)};
  }

  void forward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    const int n = hidden_;
    LstmMemory& own = lstm_memory_of(memory);
    const Matrix gates = step(own.gates, t);
    const Matrix state = memory.state(t + 1);
    const ConstMatrix bias = layout_.view(parameters, bias_);
    if (t == 0) own.weight.take(layout_.view(parameters, weight_));
    multiply_input(gates, memory, t, own.weight.view());
    for (int b = 0; b < gates.rows; ++b) {
      float* gate = gates.row(b);
      for (int j = 0; j < 4 * n; ++j) gate[j] += bias.data[j];
      sigmoid(gate, 3 * n);
      tanh(gate + 3 * n, n);
      const float* old_cell = step(own.cell, t).row(b);
      float* cell = step(own.cell, t + 1).row(b);
      float* h = state.row(b);
      for (int j = 0; j < n; ++j)
        h[j] = cell[j] = gate[n + j] * old_cell[j] + gate[j] * gate[3 * n + j];
      tanh(h, n);
      for (int j = 0; j < n; ++j) h[j] *= gate[2 * n + j];
    }
  }

  void step_backward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    LstmMemory& own = lstm_memory_of(memory);
    if (t == memory.steps - 1) {
      own.dcell.fill(0.0F);
      memory.transposed.take(layout_.view(parameters, weight_));
    }
    cell_backward(memory, own, t);
    const ConstMatrix w_h = memory.transposed.view().columns(features_, hidden_);
    if (t > 0) multiply(step(memory.dstate, t - 1), dgates_of(own, t, 1), w_h, 1.0F);
  }

  void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                        std::span<const float>) const override {
    multiply(dfeatures, dgates_of(lstm_memory_of(memory), first, count),
             memory.transposed.view().columns(0, features_));
  }

  void weight_backward(std::span<float> gradient, CoreMemory& memory) const override {
    input_weight_backward(layout_.view(gradient, weight_), layout_.view(gradient, bias_),
                          dgates_of(lstm_memory_of(memory), 0, memory.steps), memory);
  }

  void reorder(CoreMemory& memory, int t, std::span<const int> parents) const override {
    Core::reorder(memory, t, parents);
    reorder_rows(step(lstm_memory_of(memory).cell, t + 1), parents);
  }

  Work work(int steps) const override {
    return linear_work(features_, 4 * hidden_) * steps +
           linear_work(hidden_, 4 * hidden_) * (steps - 1);
  }

 private:
  // Gradients of `count` steps, (count B, 4 H).
  Matrix dgates_of(LstmMemory& own, int first, int count) const {
    const int episodes = static_cast<int>(own.dgates.shape()[1]);
    return matrix(own.dgates).row_range(first * episodes, count * episodes).columns(0, 4 * hidden_);
  }

  // Maps the gradients of h_{t+1} and c_{t+1} to those of c_t and of the gates before their
  // activations.
  void cell_backward(CoreMemory& memory, LstmMemory& own, int t) const {
    const Matrix dgates = dgates_of(own, t, 1);
    for (int b = 0; b < memory.episodes(); ++b)
      lstm_row_backward(dgates.row(b), matrix(own.dcell).row(b), step(memory.dstate, t).row(b),
                        memory.state(t + 1).row(b), step(own.gates, t).row(b),
                        step(own.cell, t).row(b), hidden_);
  }

  const ParameterLayout& layout_;
  int weight_, bias_;
};

}  // namespace

std::unique_ptr<Core> make_lstm(const std::string& name, const CoreSizes& sizes,
                                ParameterLayout& layout) {
  return std::make_unique<Lstm>(name, sizes, layout);
}

}  // namespace saccade
