#pragma once

#include <algorithm>
#include <cmath>

namespace saccade {

/// The normaliser of a softmax: the largest logit, and the sum of the exponentials relative to it.
struct Normalizer {
  float largest;
  float sum;
};

/// p (n) = softmax(z / temperature); p may be z.
inline Normalizer softmax(float* p, const float* z, int n, float temperature = 1.0F) {
  const float largest = *std::max_element(z, z + n);
  float sum = 0.0F;
  for (int k = 0; k < n; ++k) sum += p[k] = std::exp((z[k] - largest) / temperature);
  for (int k = 0; k < n; ++k) p[k] /= sum;
  return {largest, sum};
}

/// - log p[label] of p (n) = softmax(z): finite even where p[label] underflows.
inline float cross_entropy(const float* z, int n, int label) {
  const float largest = *std::max_element(z, z + n);
  float sum = 0.0F;
  for (int k = 0; k < n; ++k) sum += std::exp(z[k] - largest);
  return std::log(sum) - (z[label] - largest);
}

}  // namespace saccade
