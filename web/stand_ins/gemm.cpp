// Plain products behind nn/gemm.h, in place of oneDNN. A page plays one episode at a time, so there
// are few rows of c, and what takes the time is to read the weights once.
#include "nn/gemm.h"

#include <algorithm>

#include "nn/rows.h"

namespace saccade {
namespace {

// Rows of c that read the weights together.
constexpr int kRows = 4;

void scale(float* row, int n, float beta) {
  if (beta == 0.0F) std::fill_n(row, n, 0.0F);
}

// Adds `count` rows of a b to c, a row of b at a time.
void add_products(float* const* c, const float* const* a, int count, ConstMatrix b) {
  for (int k = 0; k < b.rows; ++k) {
    const float* __restrict b_k = b.row(k);
    for (int r = 0; r < count; ++r) {
      float* __restrict c_r = c[r];
      const float a_rk = a[r][k];
      if (a_rk == 0.0F) continue;  // after a relu, half of them
      for (int j = 0; j < b.cols; ++j) c_r[j] += a_rk * b_k[j];
    }
  }
}

}  // namespace

void multiply(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.rows && c.cols == b.cols && a.cols == b.rows);
  for (int first = 0; first < c.rows; first += kRows) {
    const int count = std::min(kRows, c.rows - first);
    float* rows[kRows];
    const float* factors[kRows];
    for (int r = 0; r < count; ++r) {
      rows[r] = c.row(first + r);
      factors[r] = a.row(first + r);
      scale(rows[r], c.cols, beta);
    }
    add_products(rows, factors, count, b);
  }
}

void multiply_transposed_a(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.cols && c.cols == b.cols && a.rows == b.rows);
  add_outer_products(c, a, b, beta);
}

void multiply_transposed_b(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.rows && c.cols == b.rows && a.cols == b.cols);
  for (int r = 0; r < c.rows; ++r)
    for (int j = 0; j < c.cols; ++j) {
      const float product = dot(a.row(r), b.row(j), a.cols);
      c(r, j) = beta == 0.0F ? product : c(r, j) + product;
    }
}

int spread_stride(int cols) { return cols; }

void SpreadCopy::take(ConstMatrix m) { view_ = m; }

void TransposedCopy::take(ConstMatrix m) {
  copy_.resize(static_cast<std::size_t>(m.rows) * m.cols);
  for (int c = 0; c < m.cols; ++c)
    for (int r = 0; r < m.rows; ++r) copy_[static_cast<std::size_t>(c) * m.rows + r] = m(r, c);
  view_ = {copy_.data(), m.cols, m.rows, m.rows};
}

}  // namespace saccade
