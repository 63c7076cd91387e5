#pragma once

#include <span>
#include <string>

#include "attention/multihead.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

// The parts of a causal transformer (Vaswani et al. 2017), with a layer norm before each part. They
// process B episodes step by step, like MultiHead: forward 0, 1, ..; backward T - 1, .., 0; then
// weight_backward, which overwrites the parameter gradients. Only constructors allocate.

struct LayerNormMemory {
  LayerNormMemory(int steps, int episodes, int width);

  int steps;
  Tensor<3> normalized;         // (T, B, H)
  Tensor<3> inverse_deviation;  // (T, B, 1)
  Tensor<2> dgain, dshift;      // (1, H), summed over the steps
};

/// layer_norm_forward (nn/layers.h) with parameters `<name>.gain` and `<name>.shift` (1, H).
class LayerNorm {
 public:
  LayerNorm(const std::string& name, int width, ParameterLayout& layout);

  void forward(Matrix y, LayerNormMemory& memory, int t, ConstMatrix x,
               std::span<const float> parameters) const;
  /// Adds to dx; overwrites dy.
  void backward(Matrix dx, LayerNormMemory& memory, int t, Matrix dy,
                std::span<const float> parameters) const;
  void weight_backward(std::span<float> gradient, const LayerNormMemory& memory) const;

 private:
  const ParameterLayout& layout_;
  int gain_, shift_;
};

struct FeedForwardMemory {
  FeedForwardMemory(int steps, int episodes, int inner);

  Tensor<3> hidden, dhidden;  // (T, B, inner)
};

/// y += relu(x W_1 + b_1) W_2 + b_2 (section 3.3). Parameters `<name>.hidden.weight` (H, inner),
/// `<name>.hidden.bias`, `<name>.output.weight` (inner, H) and `<name>.output.bias`.
class FeedForward {
 public:
  FeedForward(const std::string& name, int width, int inner, ParameterLayout& layout);

  void forward(Matrix y, FeedForwardMemory& memory, int t, ConstMatrix x,
               std::span<const float> parameters) const;
  /// Overwrites dx.
  void backward(Matrix dx, FeedForwardMemory& memory, int t, ConstMatrix dy,
                std::span<const float> parameters) const;
  /// dy and x (T B, H).
  void weight_backward(std::span<float> gradient, const FeedForwardMemory& memory, ConstMatrix dy,
                       ConstMatrix x) const;

  /// Multiply-adds of one row.
  Work work() const;

 private:
  int width_, inner_;
  const ParameterLayout& layout_;
  int hidden_weight_, hidden_bias_, output_weight_, output_bias_;
};

struct TransformerLayerMemory {
  TransformerLayerMemory(int steps, int episodes, int width);

  LayerNormMemory attention_norm, forward_norm;
  MultiHeadMemory attention;
  FeedForwardMemory forward;
  Tensor<3> attention_input, forward_input;  // (T, B, H): outputs of the norms
  Tensor<3> dmiddle;                         // (T, B, H): gradient of x between the two parts
  Tensor<3> dy;                              // (T, B, H): gradient of x after both
  Tensor<2> dinput;                          // (B, H): gradient of a norm's output
};

/// x += MultiHead(LayerNorm(x)), then x += FeedForward(LayerNorm(x)) with inner width 2 H.
class TransformerLayer {
 public:
  /// Parameters `<name>.attention..`, `<name>.forward..`, and the `..norm.gain` and `..norm.shift`
  /// of their norms.
  TransformerLayer(const std::string& name, int width, int heads, ParameterLayout& layout);

  /// x (B, H), in place. weights (B, heads T): as MultiHead writes them.
  void forward(Matrix x, Matrix weights, TransformerLayerMemory& memory, int t,
               std::span<const float> parameters) const;
  /// Reads step t of memory.dy, which the caller has written, and overwrites dx (B, H).
  void backward(Matrix dx, TransformerLayerMemory& memory, int t, ConstMatrix weights,
                std::span<const float> parameters) const;
  void weight_backward(std::span<float> gradient, const TransformerLayerMemory& memory) const;

  /// Multiply-adds of an episode of T steps.
  Work work(int steps) const;

 private:
  LayerNorm attention_norm_;
  MultiHead attention_;
  LayerNorm forward_norm_;
  FeedForward forward_;
};

}  // namespace saccade
