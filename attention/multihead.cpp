#include "attention/multihead.h"

#include <cmath>

#include "attention/categorical.h"
#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/rows.h"
#include "nn/softmax.h"

namespace saccade {
namespace {

// Queries, keys and values of one head in one episode.
template <class T>
struct Head {
  MatrixView<T> queries, keys, values;  // (T, H / heads)
};

template <class T>
Head<T> head_of(MatrixView<T> qkv, const MultiHeadMemory& memory, int b, int first, int width) {
  const MatrixView<T> episode = {qkv.row(b), memory.steps, qkv.cols, memory.episodes * qkv.stride};
  const int third = qkv.cols / 3;
  return {episode.columns(first, width), episode.columns(third + first, width),
          episode.columns(2 * third + first, width)};
}

// m += w' x: w (R), x (C)
void add_outer(Matrix m, const float* w, const float* x) {
  for (int r = 0; r < m.rows; ++r) add_weighted_rows(m.row(r), w + r, {x, 1, m.cols, m.cols});
}

}  // namespace

MultiHeadMemory::MultiHeadMemory(int steps_, int episodes_, int width)
    : steps(steps_),
      episodes(episodes_),
      qkv(zeros<3>(steps, episodes, 3 * width)),
      context(zeros<3>(steps, episodes, width)),
      dqkv(zeros<3>(steps, episodes, 3 * width)),
      dcontext(zeros<2>(episodes, width)),
      dscores(zeros<1>(steps)) {}

MultiHead::MultiHead(const std::string& name, int width, int heads, ParameterLayout& layout)
    : width_(width), heads_(heads), head_width_(width / heads), layout_(layout) {
  SACCADE_CHECK(width % heads == 0);
  const Initial initial = uniform_fan_in(width);
  qkv_weight_ = layout.add(name + ".qkv.weight", width, 3 * width, initial);
  qkv_bias_ = layout.add(name + ".qkv.bias", 1, 3 * width, constant(0));
  output_weight_ = layout.add(name + ".output.weight", width, width, initial);
  output_bias_ = layout.add(name + ".output.bias", 1, width, constant(0));
}

MultiHeadMemory MultiHead::make_memory(int steps, int episodes) const {
  return {steps, episodes, width_};
}

void MultiHead::forward(Matrix y, Matrix weights, MultiHeadMemory& memory, int t, ConstMatrix x,
                        std::span<const float> parameters) const {
  const auto p = [&](int index) { return layout_.view(parameters, index); };
  SACCADE_CHECK(weights.cols == heads_ * memory.steps);
  linear_forward(step(memory.qkv, t), x, p(qkv_weight_), p(qkv_bias_));
  const Matrix context = step(memory.context, t);
  const float temperature = std::sqrt(static_cast<float>(head_width_));
  for (int b = 0; b < memory.episodes; ++b)
    for (int i = 0; i < heads_; ++i) {
      const int first = i * head_width_;
      const Head head = head_of(matrix(memory.qkv), memory, b, first, head_width_);
      float* a = weights.row(b) + i * memory.steps;
      row_products(a, head.keys.row_range(0, t + 1), head.queries.row(t));
      softmax(a, a, t + 1, temperature);
      weighted_rows(context.row(b) + first, a, head.values.row_range(0, t + 1));
    }
  multiply(y, context, p(output_weight_), 1.0F);
  add_bias(y, p(output_bias_));
}

void MultiHead::backward(Matrix dx, MultiHeadMemory& memory, int t, ConstMatrix dy,
                         ConstMatrix weights, std::span<const float> parameters) const {
  if (t == memory.steps - 1) memory.dqkv.fill(0.0F);
  const Matrix dcontext = matrix(memory.dcontext);
  multiply_transposed_b(dcontext, dy, layout_.view(parameters, output_weight_));
  const float temperature = std::sqrt(static_cast<float>(head_width_));
  const Matrix dscores = {memory.dscores.data(), 1, t + 1, t + 1};
  for (int b = 0; b < memory.episodes; ++b)
    for (int i = 0; i < heads_; ++i) {
      const int first = i * head_width_;
      const Head head = head_of(matrix(memory.qkv), memory, b, first, head_width_);
      const Head dhead = head_of(matrix(memory.dqkv), memory, b, first, head_width_);
      const ConstMatrix a = {weights.row(b) + i * memory.steps, 1, t + 1, t + 1};
      const float* dread = dcontext.row(b) + first;
      add_outer(dhead.values.row_range(0, t + 1), a.data, dread);
      row_products(dscores.data, head.values.row_range(0, t + 1), dread);
      softmax_backward(dscores, dscores, a, temperature);
      add_outer(dhead.keys.row_range(0, t + 1), dscores.data, head.queries.row(t));
      weighted_rows(dhead.queries.row(t), dscores.data, head.keys.row_range(0, t + 1));
    }
  // No earlier query reads the key and the value of step t, so their gradients are complete.
  multiply_transposed_b(dx, step(memory.dqkv, t), layout_.view(parameters, qkv_weight_));
}

void MultiHead::weight_backward(std::span<float> gradient, const MultiHeadMemory& memory,
                                ConstMatrix dy, ConstMatrix x) const {
  const auto d = [&](int index) { return layout_.view(gradient, index); };
  linear_backward(d(output_weight_), d(output_bias_), dy, matrix(memory.context));
  linear_backward(d(qkv_weight_), d(qkv_bias_), matrix(memory.dqkv), x);
}

Work MultiHead::work(int steps) const {
  const int answers = steps * (steps + 1) / 2;  // (query, key) pairs
  return (linear_work(width_, 3 * width_) + linear_work(width_, width_)) * steps +
         linear_work(width_, answers) * 2;
}

}  // namespace saccade
