#pragma once

#include "nn/tensor.h"

namespace saccade {

// Matrix-vector products, for matrices too small or too many to be worth a call of gemm.h. Sums
// have a fixed order, and the result of a row does not depend on its position.

/// sum of x[i] over n numbers
float sum(const float* x, int n);
/// sum of x[i] y[i] over n numbers
float dot(const float* x, const float* y, int n);
/// y[r] = m.row(r) . x: y (R), m (R, C), x (C)
void row_products(float* y, ConstMatrix m, const float* x);
/// y = sum over r of w[r] m.row(r): y (C), w (R), m (R, C)
void weighted_rows(float* y, const float* w, ConstMatrix m);
/// y += that sum
void add_weighted_rows(float* y, const float* w, ConstMatrix m);

/// y (K, N) = sum over r of w.row(r)' m.row(r) + beta y, for beta = 0 or 1: w (R, K), m (R, N)
void add_outer_products(Matrix y, ConstMatrix w, ConstMatrix m, float beta = 1.0F);

// The same on one-row matrices, whose sizes are known. Mismatched sizes throw std::logic_error in
// checked builds.

/// y (1, R), m (R, C), x (1, C)
inline void row_products(Matrix y, ConstMatrix m, ConstMatrix x) {
  SACCADE_CHECK(y.rows == 1 && x.rows == 1 && y.cols == m.rows && x.cols == m.cols);
  row_products(y.data, m, x.data);
}
/// y (1, C), w (1, R), m (R, C)
inline void weighted_rows(Matrix y, ConstMatrix w, ConstMatrix m) {
  SACCADE_CHECK(y.rows == 1 && w.rows == 1 && y.cols == m.cols && w.cols == m.rows);
  weighted_rows(y.data, w.data, m);
}
inline void add_weighted_rows(Matrix y, ConstMatrix w, ConstMatrix m) {
  SACCADE_CHECK(y.rows == 1 && w.rows == 1 && y.cols == m.cols && w.cols == m.rows);
  add_weighted_rows(y.data, w.data, m);
}

}  // namespace saccade
