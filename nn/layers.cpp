#include "nn/layers.h"

#include <algorithm>
#include <cmath>
#include <xsimd/xsimd.hpp>

#include "nn/gemm.h"
#include "nn/rows.h"
#include "nn/softmax.h"

namespace saccade {
namespace {

using Batch = xsimd::batch<float>;
constexpr int kWidth = static_cast<int>(Batch::size);

// Applies f to n numbers in place; a partial last vector goes through a padded copy.
template <class F>
void map_in_place(float* x, int n, F f) {
  int i = 0;
  for (; i + kWidth <= n; i += kWidth) f(Batch::load_unaligned(x + i)).store_unaligned(x + i);
  if (i == n) return;
  alignas(64) float tail[kWidth] = {};
  std::copy(x + i, x + n, tail);
  f(Batch::load_aligned(tail)).store_aligned(tail);
  std::copy(tail, tail + (n - i), x + i);
}

// Rounds to nearest on every processor. On ARM, xsimd's operator multiplies by an approximate
// reciprocal.
Batch quotient(Batch a, Batch b) { return Batch(a.data / b.data); }

void add_bias(float* __restrict y, const float* __restrict b, int n) {
  for (int j = 0; j < n; ++j) y[j] += b[j];
}

void add_relu(float* __restrict y, const float* __restrict b, int n) {
  for (int j = 0; j < n; ++j) {
    const float z = y[j] + b[j];
    y[j] = z < 0.0F ? 0.0F : z;
  }
}

}  // namespace

void linear_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b) {
  multiply(y, x, w);
  add_bias(y, b);
}

void linear_backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta) {
  multiply_transposed_a(dw, x, dy, beta);
  if (beta == 0.0F) std::fill_n(db.data, db.cols, 0.0F);
  for (int r = 0; r < dy.rows; ++r) add_bias(db.data, dy.row(r), dy.cols);
}

void linear_relu_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b) {
  multiply(y, x, w);
  bias_relu(y, b);
}

void add_bias(Matrix y, ConstMatrix b) {
  SACCADE_CHECK(y.cols == b.cols);
  for (int r = 0; r < y.rows; ++r) add_bias(y.row(r), b.data, y.cols);
}

void bias_relu(Matrix y, ConstMatrix b) {
  for (int r = 0; r < y.rows; ++r) add_relu(y.row(r), b.data, y.cols);
}

void copy_rows(Matrix y, ConstMatrix x) {
  SACCADE_CHECK(y.rows == x.rows && y.cols == x.cols);
  for (int r = 0; r < y.rows; ++r) std::copy_n(x.row(r), x.cols, y.row(r));
}

void add(Matrix y, ConstMatrix x) {
  SACCADE_CHECK(y.rows == x.rows && y.cols == x.cols);
  for (int r = 0; r < y.rows; ++r) add_bias(y.row(r), x.row(r), y.cols);
}

void add_relu(Matrix y, ConstMatrix x) {
  SACCADE_CHECK(y.rows == x.rows && y.cols == x.cols);
  for (int r = 0; r < y.rows; ++r) add_relu(y.row(r), x.row(r), y.cols);
}

void relu_backward(Matrix dy, ConstMatrix y) {
  SACCADE_CHECK(dy.rows == y.rows && dy.cols == y.cols);
  for (int r = 0; r < dy.rows; ++r) {
    float* __restrict dy_row = dy.row(r);
    const float* __restrict y_row = y.row(r);
    for (int j = 0; j < dy.cols; ++j) dy_row[j] = y_row[j] > 0.0F ? dy_row[j] : 0.0F;
  }
}

void layer_norm_forward(Matrix y, Matrix normalized, Matrix inverse_deviation, ConstMatrix x,
                        ConstMatrix gain, ConstMatrix shift) {
  constexpr float kEpsilon = 1e-5F;
  const int n = x.cols;
  SACCADE_CHECK(y.cols == n && normalized.cols == n && gain.cols == n && shift.cols == n);
  for (int r = 0; r < x.rows; ++r) {
    const float* __restrict x_row = x.row(r);
    float* __restrict z = normalized.row(r);
    float* __restrict y_row = y.row(r);
    const float mean = sum(x_row, n) / static_cast<float>(n);
    for (int j = 0; j < n; ++j) z[j] = x_row[j] - mean;
    const float variance = dot(z, z, n) / static_cast<float>(n);
    const float inverse = 1.0F / std::sqrt(variance + kEpsilon);
    for (int j = 0; j < n; ++j) {
      z[j] *= inverse;
      y_row[j] = gain.data[j] * z[j] + shift.data[j];
    }
    inverse_deviation(r, 0) = inverse;
  }
}

void layer_norm_backward(Matrix dx, Matrix dgain, Matrix dshift, Matrix dy, ConstMatrix normalized,
                         ConstMatrix inverse_deviation, ConstMatrix gain) {
  const int n = dy.cols;
  SACCADE_CHECK(dx.cols == n && normalized.cols == n && gain.cols == n);
  const float* __restrict gain_row = gain.data;
  float* __restrict dgain_row = dgain.data;
  for (int r = 0; r < dy.rows; ++r) {
    float* __restrict dz = dy.row(r);
    const float* __restrict z = normalized.row(r);
    add_bias(dshift.data, dz, n);
    for (int j = 0; j < n; ++j) {
      dgain_row[j] += dz[j] * z[j];
      dz[j] *= gain_row[j];
    }
    // Removes the parts of dz that change only the row's mean or deviation, which do not affect z.
    const float mean = sum(dz, n) / static_cast<float>(n);
    const float slope = dot(dz, z, n) / static_cast<float>(n);
    float* __restrict dx_row = dx.row(r);
    for (int j = 0; j < n; ++j)
      dx_row[j] += inverse_deviation(r, 0) * (dz[j] - mean - slope * z[j]);
  }
}

void sigmoid(float* x, int n) {
  map_in_place(x, n, [](Batch z) { return quotient(Batch(1.0F), Batch(1.0F) + xsimd::exp(-z)); });
}

void tanh(float* x, int n) {
  map_in_place(x, n, [](Batch z) {
    return Batch(1.0F) - quotient(Batch(2.0F), xsimd::exp(z + z) + Batch(1.0F));
  });
}

void exp(float* x, int n) {
  map_in_place(x, n, [](Batch z) { return xsimd::exp(z); });
}

void cross_entropy_forward(Matrix p, std::span<float> loss, ConstMatrix logits,
                           std::span<const int> labels) {
  SACCADE_CHECK(p.rows == logits.rows && p.cols == logits.cols);
  for (int r = 0; r < p.rows; ++r) {
    const float* z = logits.row(r);
    const auto [largest, sum] = softmax(p.row(r), z, p.cols);
    const int label = labels[r];
    SACCADE_CHECK(label >= 0 && label < p.cols);
    loss[r] = std::log(sum) - (z[label] - largest);
  }
}

void cross_entropy_backward(Matrix dlogits, ConstMatrix p, std::span<const int> labels,
                            float scale) {
  for (int r = 0; r < p.rows; ++r) {
    for (int c = 0; c < p.cols; ++c) dlogits(r, c) = scale * p(r, c);
    dlogits(r, labels[r]) -= scale;
  }
}

}  // namespace saccade
