#pragma once

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

}  // namespace saccade
