#pragma once

#include <span>
#include <string>

#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Workspace of multi-head self-attention for B episodes of T steps.
struct MultiHeadMemory {
  MultiHeadMemory(int steps, int episodes, int width);

  int steps, episodes;
  Tensor<3> qkv;       // (T, B, 3 H): queries, keys and values, side by side
  Tensor<3> context;   // (T, B, H): outputs of the heads, side by side
  Tensor<3> dqkv;      // (T, B, 3 H): keys and values accumulate over the later queries
  Tensor<2> dcontext;  // (B, H)
  Tensor<1> dscores;   // (T): one query and head
};

/// Multi-head scaled dot-product self-attention (Vaswani et al. 2017, sections 3.2.1 and 3.2.2),
/// causal and step by step: x_t attends to x_0 .. x_t.
///
///     [q_t | k_t | v_t] = x_t W + b, each of width H; head i has its own H / heads columns
///     a_t = softmax(q_t . k_0..t / sqrt(H / heads)), in each head
///     y_t = [sum_j a_tj v_j of head 1 | of head 2 | ..] W_o + b_o
///
/// Order of calls: forward 0, 1, ..; backward T - 1, .., 0; weight_backward. Only the constructor
/// and make_memory allocate.
class MultiHead {
 public:
  /// Parameters `<name>.qkv.weight` (H, 3 H), `<name>.qkv.bias`, `<name>.output.weight` (H, H) and
  /// `<name>.output.bias`. `heads` divides the width H. `layout` must outlive it.
  MultiHead(const std::string& name, int width, int heads, ParameterLayout& layout);

  MultiHeadMemory make_memory(int steps, int episodes) const;

  /// Adds y_t to y (B, H) for x (B, H). weights (B, heads T): row b holds a_t of head i from column
  /// i T on, t + 1 numbers that sum to 1; later columns are not written.
  void forward(Matrix y, Matrix weights, MultiHeadMemory& memory, int t, ConstMatrix x,
               std::span<const float> parameters) const;
  /// Overwrites dx (B, H) with the gradient of x_t through all queries from t on.
  void backward(Matrix dx, MultiHeadMemory& memory, int t, ConstMatrix dy, ConstMatrix weights,
                std::span<const float> parameters) const;
  /// Overwrites the parameter gradients. dy and x (T B, H): row t B + b.
  void weight_backward(std::span<float> gradient, const MultiHeadMemory& memory, ConstMatrix dy,
                       ConstMatrix x) const;

  /// Multiply-adds of an episode of T steps.
  Work work(int steps) const;

 private:
  int width_, heads_, head_width_;
  const ParameterLayout& layout_;
  int qkv_weight_, qkv_bias_, output_weight_, output_bias_;
};

}  // namespace saccade
