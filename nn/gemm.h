#pragma once

#include <vector>

#include "nn/tensor.h"

namespace saccade {

/// Matrix products in single precision by oneDNN, on the calling thread only. `beta` = 0 overwrites
/// c, `beta` = 1 adds to it. Mismatched sizes throw std::logic_error in checked builds.

/// c (M, N) = a (M, K) b (K, N) + beta c
void multiply(Matrix c, ConstMatrix a, ConstMatrix b, float beta = 0.0F);
/// c (M, N) = a (K, M)' b (K, N) + beta c
void multiply_transposed_a(Matrix c, ConstMatrix a, ConstMatrix b, float beta = 0.0F);
/// c (M, N) = a (M, K) b (N, K)' + beta c
void multiply_transposed_b(Matrix c, ConstMatrix a, ConstMatrix b, float beta = 0.0F);

/// Returns the row stride, in floats, to use for rows of `cols`. Rows whose starts are a multiple
/// of 2 KiB apart map to few sets of the L1 cache, which slows products that read down columns, as
/// those on processors without AVX-512 do.
int spread_stride(int cols);

/// Weights that several successive products read, with a cache-friendly row stride.
class SpreadCopy {
 public:
  /// Copies `m` if its stride is unfavourable; otherwise keeps a view of `m`, which must outlive
  /// it.
  void take(ConstMatrix m);
  ConstMatrix view() const { return view_; }

 private:
  ConstMatrix view_;
  std::vector<float> copy_;
};

/// Weights, transposed, for several successive products: multiply(c, a, view()) in place of
/// multiply_transposed_b(c, a, m), which with few rows takes up to a third longer.
class TransposedCopy {
 public:
  /// Copies m (R, C).
  void take(ConstMatrix m);
  /// (C, R)
  ConstMatrix view() const { return view_; }

 private:
  ConstMatrix view_;
  std::vector<float> copy_;
};

}  // namespace saccade
