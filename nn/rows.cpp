#include "nn/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "nn/batch.h"

namespace saccade {
namespace {

// Loads the n < kWidth numbers at x after `offset` zeros; fills the rest with zeros.
Batch load_part(const float* x, int n, int offset) {
  alignas(64) std::array<float, kWidth> part{};
  std::copy_n(x, n, part.data() + offset);
  return Batch::load_aligned(part.data());
}

float sum_of(Batch batch) {
  alignas(64) std::array<float, kWidth> part;
  batch.store_aligned(part.data());
  return std::accumulate(part.begin(), part.end(), 0.0F);
}

// sums[i] = the element-wise products of rows[i] and x, one vector that is not yet summed.
template <std::size_t N>
std::array<Batch, N> partial_products(const std::array<const float*, N>& rows, const float* x,
                                      int n) {
  std::array<Batch, N> sums;
  sums.fill(Batch(0.0F));
  int j = 0;
  for (; j + kWidth <= n; j += kWidth) {
    const Batch x_j = Batch::load_unaligned(x + j);
    for (std::size_t i = 0; i < N; ++i)
      sums[i] = xsimd::fma(Batch::load_unaligned(rows[i] + j), x_j, sums[i]);
  }
  if (j == n) return sums;
  const int rest = n - j;
  if (n < kWidth) {
    const Batch x_j = load_part(x, rest, 0);
    for (std::size_t i = 0; i < N; ++i)
      sums[i] = xsimd::fma(load_part(rows[i], rest, 0), x_j, sums[i]);
  } else {  // the last vector overlaps the previous one; numbers counted before are zeroed in x
    const Batch x_j = load_part(x + j, rest, kWidth - rest);
    for (std::size_t i = 0; i < N; ++i)
      sums[i] = xsimd::fma(Batch::load_unaligned(rows[i] + n - kWidth), x_j, sums[i]);
  }
  return sums;
}

// y_j += sum over i of w[i] times the vector at column j of rows[i]
template <std::size_t N>
Batch add_batches(Batch y_j, const std::array<Batch, N>& w, const std::array<const float*, N>& rows,
                  int j) {
  for (std::size_t i = 0; i < N; ++i)
    y_j = xsimd::fma(w[i], Batch::load_unaligned(rows[i] + j), y_j);
  return y_j;
}

// y += sum over i of w[i] rows[i]
template <std::size_t N>
void add_rows(float* y, const float* w, const std::array<const float*, N>& rows, int n) {
  if (n < kWidth) {
    for (int j = 0; j < n; ++j)
      for (std::size_t i = 0; i < N; ++i) y[j] = std::fma(w[i], rows[i][j], y[j]);
    return;
  }
  std::array<Batch, N> weights;
  for (std::size_t i = 0; i < N; ++i) weights[i] = Batch(w[i]);
  // The last vector may overlap the previous one, so compute it from the original y first.
  const Batch last = add_batches(Batch::load_unaligned(y + n - kWidth), weights, rows, n - kWidth);
  for (int j = 0; j + kWidth <= n; j += kWidth)
    add_batches(Batch::load_unaligned(y + j), weights, rows, j).store_unaligned(y + j);
  last.store_unaligned(y + n - kWidth);
}

// Rows that are added at once: their weights stay in registers.
constexpr int kRows = 8;

// y += sum over i < count of w[i] m.row(first + i), for count <= N
template <std::size_t N>
void add_few_rows(float* y, const float* w, ConstMatrix m, int first, int count) {
  if (count < static_cast<int>(N)) {
    if constexpr (N > 1) add_few_rows<N - 1>(y, w, m, first, count);
    return;
  }
  std::array<const float*, N> rows;
  for (std::size_t i = 0; i < N; ++i) rows[i] = m.row(first + static_cast<int>(i));
  add_rows(y, w, rows, m.cols);
}

}  // namespace

float sum(const float* x, int n) {
  Batch sums(0.0F);
  int i = 0;
  for (; i + kWidth <= n; i += kWidth) sums += Batch::load_unaligned(x + i);
  if (i < n) sums += load_part(x + i, n - i, 0);
  return sum_of(sums);
}

float dot(const float* x, const float* y, int n) {
  return sum_of(partial_products<1>({x}, y, n)[0]);
}

void row_products(float* y, ConstMatrix m, const float* x) {
  // Takes as many rows at once as a vector is wide, so that their sums can be reduced together.
  for (int r = 0; r < m.rows; r += kWidth) {
    std::array<const float*, kWidth> rows;
    for (int i = 0; i < kWidth; ++i) rows[i] = m.row(std::min(r + i, m.rows - 1));
    const Batch sums = xsimd::haddp(partial_products(rows, x, m.cols).data());
    if (r + kWidth <= m.rows) {
      sums.store_unaligned(y + r);
    } else {
      alignas(64) std::array<float, kWidth> part;
      sums.store_aligned(part.data());
      std::copy_n(part.data(), m.rows - r, y + r);
    }
  }
}

void add_weighted_rows(float* y, const float* w, ConstMatrix m) {
  for (int r = 0; r < m.rows; r += kRows)
    add_few_rows<kRows>(y, w + r, m, r, std::min(kRows, m.rows - r));
}

void add_outer_products(Matrix y, ConstMatrix w, ConstMatrix m, float beta) {
  SACCADE_CHECK(y.rows == w.cols && y.cols == m.cols && w.rows == m.rows);
  for (int k = 0; k < y.rows; ++k) {
    if (beta == 0.0F) std::fill_n(y.row(k), y.cols, 0.0F);
    for (int r = 0; r < m.rows; r += kRows) {
      const int count = std::min(kRows, m.rows - r);
      std::array<float, kRows> weights;
      for (int i = 0; i < count; ++i) weights[i] = w(r + i, k);
      add_few_rows<kRows>(y.row(k), weights.data(), m, r, count);
    }
  }
}

void weighted_rows(float* y, const float* w, ConstMatrix m) {
  std::fill_n(y, m.cols, 0.0F);
  add_weighted_rows(y, w, m);
}

}  // namespace saccade
