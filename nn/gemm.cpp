#include "nn/gemm.h"

#include <dnnl.h>
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
#include <omp.h>
#endif

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "nn/profile.h"
#include "nn/rows.h"

namespace saccade {
namespace {

constexpr int kCacheLine = 16;  // floats

// oneDNN's kernels for AVX-512 pack both operands first, whatever their strides. The others read
// down columns, where rows whose starts are a multiple of 2 KiB apart map to few sets of the L1
// cache, so that a product takes up to twice as long.
bool strides_matter() {
  static const bool packs = (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) ==
                            static_cast<unsigned>(dnnl_cpu_isa_avx512_core);
  return !packs;
}

constexpr int kAliasedStride = 512;
// Those kernels transpose `a` column by column and slow down from a quarter of that stride on. Such
// an `a` is first copied with closer rows, if `b` is wide enough to repay the copy and not so wide
// that the product itself takes nearly all of the time.
constexpr int kAliasedTransposedStride = 128;
constexpr int kCopyPaysFrom = 64, kCopyPaysTo = 512;
constexpr int kCopiedCols = 128;
// A copy never has rows that are a multiple of this apart.
constexpr int kAliasedCopyStride = 64;

// Up to here a sum of outer products needs no packing.
constexpr int kFewRows = 16;
// From here on, transposing `b` first costs less than a product with a transposed `b` loses.
constexpr int kTransposePaysFrom = 256;

void product(char transpose_a, char transpose_b, Matrix c, ConstMatrix a, ConstMatrix b, int inner,
             float beta) {
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP  // as Debian's
  // Without this every worker would start its own OpenMP team.
  thread_local const bool single_threaded = (omp_set_num_threads(1), true);
  static_cast<void>(single_threaded);
#endif
  if (c.rows == 0 || c.cols == 0) return;
  const ProductScope scope(2.0 * c.rows * c.cols * inner);
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a, transpose_b, c.rows, c.cols, inner, 1.0F, a.data, a.stride, b.data,
                 b.stride, beta, c.data, c.stride);
  if (status != dnnl_success) throw std::logic_error("oneDNN refused a matrix product");
}

}  // namespace

void multiply(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.rows && c.cols == b.cols && a.cols == b.rows);
  product('N', 'N', c, a, b, a.cols, beta);
}

void multiply_transposed_a(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.cols && c.cols == b.cols && a.rows == b.rows);
  if (a.rows <= kFewRows) {
    const ProductScope scope(2.0 * c.rows * c.cols * a.rows);
    return add_outer_products(c, a, b, beta);
  }
  if (!strides_matter() || a.stride % kAliasedTransposedStride != 0 || b.cols < kCopyPaysFrom ||
      b.cols > kCopyPaysTo)
    return product('T', 'N', c, a, b, a.rows, beta);
  thread_local std::vector<float> copy;
  const int stride = kCopiedCols + kCacheLine;
  copy.resize(static_cast<std::size_t>(a.rows) * stride);
  for (int first = 0; first < a.cols; first += kCopiedCols) {
    const int count = std::min(kCopiedCols, a.cols - first);
    for (int r = 0; r < a.rows; ++r) std::copy_n(a.row(r) + first, count, &copy[r * stride]);
    product('T', 'N', c.row_range(first, count), {copy.data(), a.rows, count, stride}, b, a.rows,
            beta);
  }
}

void multiply_transposed_b(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.rows && c.cols == b.rows && a.cols == b.cols);
  if (a.rows < kTransposePaysFrom) return product('N', 'T', c, a, b, a.cols, beta);
  thread_local TransposedCopy transposed;
  transposed.take(b);
  product('N', 'N', c, a, transposed.view(), a.cols, beta);
}

int spread_stride(int cols) {
  return strides_matter() && cols % kAliasedStride == 0 ? cols + kCacheLine : cols;
}

void SpreadCopy::take(ConstMatrix m) {
  view_ = m;
  const int stride = spread_stride(m.stride);
  if (stride == m.stride) return;
  copy_.resize(static_cast<std::size_t>(m.rows) * stride);
  for (int r = 0; r < m.rows; ++r) std::copy_n(m.row(r), m.cols, &copy_[r * stride]);
  view_ = {copy_.data(), m.rows, m.cols, stride};
}

void TransposedCopy::take(ConstMatrix m) {
  const int stride = m.rows % kAliasedCopyStride == 0 ? m.rows + kCacheLine : m.rows;
  copy_.resize(static_cast<std::size_t>(m.cols) * stride);
  view_ = {copy_.data(), m.cols, m.rows, stride};
  // A few rows at a time, so that what is written is a part of a cache line, not one number of it.
  constexpr int kRows = 8;
  int first = 0;
  for (; first + kRows <= m.rows; first += kRows)
    for (int c = 0; c < m.cols; ++c)
      for (int r = first; r < first + kRows; ++r) copy_[c * stride + r] = m(r, c);
  for (int c = 0; c < m.cols; ++c)
    for (int r = first; r < m.rows; ++r) copy_[c * stride + r] = m(r, c);
}

}  // namespace saccade
