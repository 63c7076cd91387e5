#pragma once

#include "nn/tensor.h"

namespace saccade {

// Products of one matrix and one vector, for matrices too small or too many to be worth a call of
// gemm.h. Sums have a fixed order, and every row's does not depend on its place.

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

}  // namespace saccade
