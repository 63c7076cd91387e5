#pragma once

#include <algorithm>
#include <cmath>

namespace saccade {

/// What a softmax was normalised by: its largest logit and the sum of the exponents above it.
struct Normalizer {
  float largest;
  float sum;
};

/// p (n) = softmax(z / temperature); may work in place.
inline Normalizer softmax(float* p, const float* z, int n, float temperature = 1.0F) {
  const float largest = *std::max_element(z, z + n);
  float sum = 0.0F;
  for (int k = 0; k < n; ++k) sum += p[k] = std::exp((z[k] - largest) / temperature);
  for (int k = 0; k < n; ++k) p[k] /= sum;
  return {largest, sum};
}

}  // namespace saccade
