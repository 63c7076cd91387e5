#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "agent/cores/core.h"
#include "attention/transformer.h"
#include "base/error.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

// Returns the position code of step t (Vaswani et al. 2017, section 3.5).
float position_code(int t, int column, int width) {
  const double rate = std::pow(10000.0, -static_cast<double>(column / 2 * 2) / width);
  return static_cast<float>(column % 2 == 0 ? std::sin(t * rate) : std::cos(t * rate));
}

struct AttentionMemory final : CoreExtension {
  AttentionMemory(int steps, int episodes, const CoreSizes& sizes)
      : positions(zeros<2>(steps, sizes.hidden)),
        weights(zeros<3>(steps, episodes, sizes.depth * sizes.heads * steps)),
        layers(sizes.depth, TransformerLayerMemory(steps, episodes, sizes.hidden)),
        norm(steps, episodes, sizes.hidden),
        x(zeros<2>(episodes, sizes.hidden)),
        dx(zeros<3>(steps, episodes, sizes.hidden)) {
    for (int t = 0; t < steps; ++t)
      for (int j = 0; j < sizes.hidden; ++j) positions(t, j) = position_code(t, j, sizes.hidden);
  }

  /// Weights of one layer at step t (B, heads T).
  Matrix weights_of(int t, int layer) {
    const Matrix all = step(weights, t);
    const int width = all.cols / static_cast<int>(layers.size());
    return all.columns(layer * width, width);
  }

  Tensor<2> positions;  // (T, H)
  Tensor<3> weights;    // (T, B, depth heads T)
  std::vector<TransformerLayerMemory> layers;
  LayerNormMemory norm;
  Tensor<2> x;   // (B, H): activation of one step, updated by each layer
  Tensor<3> dx;  // (T, B, H): gradient of x before the layers
};

AttentionMemory& attention_memory_of(const CoreMemory& memory) {
  return static_cast<AttentionMemory&>(*memory.extension);
}

// x = g W + b + position; the layers; h = LayerNorm(x).
class AttentionCore final : public Core {
 public:
  AttentionCore(const std::string& name, const CoreSizes& sizes, ParameterLayout& layout)
      : Core(sizes),
        layout_(layout),
        input_weight_(layout.add(name + ".input.weight", sizes.features, sizes.hidden,
                                 uniform_fan_in(sizes.features))),
        input_bias_(layout.add(name + ".input.bias", 1, sizes.hidden, constant(0))),
        norm_(name + ".norm", sizes.hidden, layout) {
    for (int i = 0; i < sizes.depth; ++i)
      layers_.emplace_back(fmt::format("{}.layer{}", name, i), sizes.hidden, sizes.heads, layout);
  }

  CoreMemory make_memory(int steps, int episodes) const override {
    return {steps, episodes, sizes_, std::make_unique<AttentionMemory>(steps, episodes, sizes_)};
  }

  void forward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    AttentionMemory& own = attention_memory_of(memory);
    const Matrix x = matrix(own.x);
    linear_forward(x, memory.feature(t), layout_.view(parameters, input_weight_),
                   layout_.view(parameters, input_bias_));
    add_bias(x, matrix(own.positions).row_range(t, 1));
    for (int i = 0; i < sizes_.depth; ++i)
      layers_[i].forward(x, own.weights_of(t, i), own.layers[i], t, parameters);
    norm_.forward(memory.state(t + 1), own.norm, t, x, parameters);
  }

  void step_backward(CoreMemory& memory, int t, std::span<const float> parameters) const override {
    AttentionMemory& own = attention_memory_of(memory);
    const Matrix dlast = step(own.layers.back().dy, t);
    std::fill_n(dlast.data, dlast.rows * dlast.cols, 0.0F);
    norm_.backward(dlast, own.norm, t, step(memory.dstate, t), parameters);
    for (int i = sizes_.depth - 1; i >= 0; --i) {
      const Matrix dx = step(i == 0 ? own.dx : own.layers[i - 1].dy, t);
      layers_[i].backward(dx, own.layers[i], t, own.weights_of(t, i), parameters);
    }
  }

  void feature_backward(Matrix dfeatures, CoreMemory& memory, int first, int count,
                        std::span<const float> parameters) const override {
    multiply_transposed_b(dfeatures, memory.steps_of(attention_memory_of(memory).dx, first, count),
                          layout_.view(parameters, input_weight_));
  }

  void weight_backward(std::span<float> gradient, CoreMemory& memory) const override {
    const AttentionMemory& own = attention_memory_of(memory);
    linear_backward(layout_.view(gradient, input_weight_), layout_.view(gradient, input_bias_),
                    matrix(own.dx), memory.all_features());
    for (int i = 0; i < sizes_.depth; ++i) layers_[i].weight_backward(gradient, own.layers[i]);
    norm_.weight_backward(gradient, own.norm);
  }

  ConstMatrix attention(const CoreMemory& memory, int t, int b) const override {
    const ConstMatrix all = step(attention_memory_of(memory).weights, t);
    return {all.row(b), attention_rows(), t + 1, memory.steps};
  }

  int attention_rows() const override { return sizes_.depth * sizes_.heads; }

  Work work(int steps) const override {
    Work total = linear_work(features_, hidden_) * steps;
    for (const TransformerLayer& layer : layers_) total = total + layer.work(steps);
    return total;
  }

 private:
  const ParameterLayout& layout_;
  int input_weight_, input_bias_;
  LayerNorm norm_;  // the final norm
  std::vector<TransformerLayer> layers_;
};

}  // namespace

void check_attention(const CoreSizes& sizes) {
  if (sizes.depth < 1)
    throw SettingError({"model.depth"},
                       fmt::format("model.depth: {}; allowed: 1 and more", sizes.depth));
  if (sizes.heads >= 1 && sizes.hidden % sizes.heads == 0) return;
  std::vector<int> divisors;
  for (int n = 1; n <= sizes.hidden; ++n)
    if (sizes.hidden % n == 0) divisors.push_back(n);
  throw SettingError(
      {"model.heads", "model.hidden_size"},
      fmt::format("model.heads: {} does not divide model.hidden_size: {}; allowed: {}", sizes.heads,
                  sizes.hidden, fmt::join(divisors, ", ")));
}

std::unique_ptr<Core> make_attention(const std::string& name, const CoreSizes& sizes,
                                     ParameterLayout& layout) {
  return std::make_unique<AttentionCore>(name, sizes, layout);
}

}  // namespace saccade
