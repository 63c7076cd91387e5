#include <fmt/format.h>

#include "attention/categorical.h"
#include "attention/hidden.h"
#include "attention/setting_range.h"
#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/rows.h"

namespace saccade {
namespace {

struct SelfExtension final : HiddenExtension {
  SelfExtension(int steps, int episodes, int hidden, int hops)
      : activation(zeros<2>(steps * episodes, hidden)),
        dactivation(zeros<2>(steps * episodes, hidden)),
        logits(zeros<2>(steps * episodes, hops)),
        dlogits(zeros<2>(steps * episodes, hops)),
        dweights(zeros<2>(hops, steps)),
        mask(zeros<1>(steps)) {}

  // For states, in the row order of the values:
  Tensor<2> activation;   // (T B, hidden): tanh(W_1' h)
  Tensor<2> dactivation;  // (T B, hidden): of the tanh, then before it
  Tensor<2> logits;       // (T B, r)
  Tensor<2> dlogits;      // (T B, r), summed over the reads
  // For one read of one episode:
  Tensor<2> dweights;  // (r, T): of A, then before the softmax
  Tensor<1> mask;      // (T)
};

// The logits do not depend on the step of a read, so all reads share them.
class HiddenSelf final : public HiddenAttention {
 public:
  HiddenSelf(const HiddenConfig& config, const std::string& name, int state_size, int steps,
             ParameterLayout& layout)
      : HiddenAttention(config, state_size, steps),
        hidden_(config.attend.score_hidden),
        hops_(config.hops),
        penalty_(config.penalty),
        layout_(layout) {
    hidden_weight_ =
        layout.add(name + ".hidden.weight", state_size, hidden_, uniform_fan_in(state_size));
    hops_weight_ = layout.add(name + ".hops.weight", hidden_, hops_, uniform_fan_in(hidden_));
  }

  int output_size() const override { return hops_ * state_size_; }
  int hops() const override { return hops_; }

  HiddenMemory make_memory(int steps, int episodes) const override {
    HiddenMemory memory(steps, episodes, hops_);
    memory.extension = std::make_unique<SelfExtension>(steps, episodes, hidden_, hops_);
    return memory;
  }

  void prepare(HiddenMemory& memory, ConstMatrix values, std::span<const int> lengths,
               std::span<const float> parameters) const override {
    HiddenAttention::prepare(memory, values, lengths, parameters);
    SelfExtension& own = extension(memory);
    multiply(matrix(own.activation), values, layout_.view(parameters, hidden_weight_));
    tanh(own.activation.data(), static_cast<int>(own.activation.size()));
    multiply(matrix(own.logits), matrix(own.activation), layout_.view(parameters, hops_weight_));
  }

  void forward(Matrix output, HiddenMemory& memory, int t, ConstMatrix values,
               std::span<const float>) const override {
    SelfExtension& own = extension(memory);
    for (int b = 0; b < memory.episodes; ++b) {
      const Matrix a = weights(memory, t, b), m = by_hop(output, b);
      if (count(memory, t, b) == 0) {
        std::fill_n(a.data, a.rows * a.cols, 0.0F);
        std::fill_n(m.data, m.rows * m.cols, 0.0F);
        continue;
      }
      write_mask(own.mask.data(), memory, t, b);
      for (int hop = 0; hop < hops_; ++hop) {
        for (int k = 0; k < a.cols; ++k) a(hop, k) = own.logits(k * memory.episodes + b, hop);
        masked_softmax(a.row(hop), own.mask.data(), a.cols);
        weighted_rows(one_row(m, hop), one_row(a, hop).columns(0, length(memory, t, b)),
                      states(values, memory, t, b));
      }
    }
  }

  double backward(Matrix dvalues, HiddenMemory& memory, int t, ConstMatrix doutput,
                  ConstMatrix values, float scale, std::span<const float>) const override {
    SelfExtension& own = extension(memory);
    if (t == memory.steps - 1) own.dlogits.fill(0.0F);
    double penalty = 0.0;
    const Matrix da = matrix(own.dweights);
    for (int b = 0; b < memory.episodes; ++b) {
      if (count(memory, t, b) == 0) continue;
      const ConstMatrix a = weights(memory, t, b), dm = by_hop(doutput, b);
      const Matrix dstates = states(dvalues, memory, t, b);
      own.dweights.fill(0.0F);
      for (int hop = 0; hop < hops_; ++hop) {
        row_products(one_row(da, hop).columns(0, dstates.rows), states(values, memory, t, b),
                     one_row(dm, hop));
        for (int k = 0; k < dstates.rows; ++k)
          if (a(hop, k) != 0.0F)
            add_weighted_rows(dstates.row(k), &a(hop, k), dm.row_range(hop, 1));
      }
      if (penalty_ > 0.0 && scale > 0.0F)
        penalty += penalty_ * row_penalty(da, a, static_cast<float>(penalty_) * scale);
      softmax_backward(da, da, a, 1.0F);
      for (int hop = 0; hop < hops_; ++hop)
        for (int k = 0; k < dstates.rows; ++k)
          own.dlogits(k * memory.episodes + b, hop) += da(hop, k);
    }
    return penalty;
  }

  void finish(std::span<float> gradient, Matrix dvalues, HiddenMemory& memory, int first,
              ConstMatrix values, std::span<const float> parameters) const override {
    SelfExtension& own = extension(memory);
    if (first == memory.steps) own.dlogits.fill(0.0F);
    multiply_transposed_a(layout_.view(gradient, hops_weight_), matrix(own.activation),
                          matrix(own.dlogits));
    multiply_transposed_b(matrix(own.dactivation), matrix(own.dlogits),
                          layout_.view(parameters, hops_weight_));
    const float* __restrict y = own.activation.data();
    float* __restrict dy = own.dactivation.data();
    for (std::size_t i = 0; i < own.activation.size(); ++i) dy[i] *= 1.0F - y[i] * y[i];
    multiply_transposed_a(layout_.view(gradient, hidden_weight_), values, matrix(own.dactivation));
    multiply_transposed_b(dvalues, matrix(own.dactivation),
                          layout_.view(parameters, hidden_weight_), 1.0F);
  }

  Work work(int steps, int reads) const override {
    return (linear_work(state_size_, hidden_) + linear_work(hidden_, hops_)) * steps +
           linear_work(state_size_, hops_ * steps) * reads;
  }

 private:
  static SelfExtension& extension(HiddenMemory& memory) {
    return static_cast<SelfExtension&>(*memory.extension);
  }
  // A (r, T) of the read after step t.
  Matrix weights(HiddenMemory& memory, int t, int b) const {
    return {&memory.weights(t, b, 0), hops_, memory.steps, memory.steps};
  }
  // M (r, H) of episode b, or its gradient.
  template <class T>
  MatrixView<T> by_hop(MatrixView<T> output, int b) const {
    return {output.row(b), hops_, state_size_, state_size_};
  }

  int hidden_, hops_;
  double penalty_;
  const ParameterLayout& layout_;
  int hidden_weight_, hops_weight_;
};

}  // namespace

void check_hidden_self(const HiddenConfig& config) {
  check_range("attention.hidden.hops", config.hops, kHops);
  check_range("attention.hidden.score_hidden", config.attend.score_hidden, kLayerWidth);
  check_range("attention.hidden.penalty", config.penalty, kLossWeight);
}

std::unique_ptr<HiddenAttention> make_hidden_self(const HiddenConfig& config,
                                                  const std::string& name, int state_size,
                                                  int steps, ParameterLayout& layout) {
  return std::make_unique<HiddenSelf>(config, name, state_size, steps, layout);
}

}  // namespace saccade
