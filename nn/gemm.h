#pragma once

#include <vector>

#include "nn/tensor.h"

namespace saccade {

/// Matrix products in single precision on the calling thread alone, by oneDNN. `beta` = 0 writes
/// c, `beta` = 1 adds to it. Sizes that do not fit throw std::logic_error in checked builds.

/// c (M, N) = a (M, K) b (K, N) + beta c
void multiply(Matrix c, ConstMatrix a, ConstMatrix b, float beta = 0.0F);
/// c (M, N) = a (K, M)' b (K, N) + beta c
void multiply_transposed_a(Matrix c, ConstMatrix a, ConstMatrix b, float beta = 0.0F);
/// c (M, N) = a (M, K) b (N, K)' + beta c
void multiply_transposed_b(Matrix c, ConstMatrix a, ConstMatrix b, float beta = 0.0F);

/// Rows that begin a multiple of 2 KiB apart share few places of the first cache, and a product
/// that goes down their columns waits for it. How many floats apart rows of `cols` are better kept.
int spread_stride(int cols);

/// Weights that several products in a row read, with their rows well apart.
class SpreadCopy {
 public:
  /// Copies `m` where its rows are badly apart; else it is the view, and has to live on.
  void take(ConstMatrix m);
  ConstMatrix view() const { return view_; }

 private:
  ConstMatrix view_;
  std::vector<float> copy_;
};

}  // namespace saccade
