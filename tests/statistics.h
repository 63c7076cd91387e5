#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

// Test statistics as deviates that are approximately standard normal if all is well. Tests use
// fixed seeds, so a limit of 5 never fails by chance and still detects small faults.
namespace saccade {

/// A chi-square, transformed to normal by Wilson and Hilferty (1931).
inline double chi_square_deviate(double chi_square, double freedom) {
  const double variance = 2.0 / (9.0 * freedom);
  return (std::cbrt(chi_square / freedom) - (1.0 - variance)) / std::sqrt(variance);
}

/// Pearson's chi-square of `counts` against equal shares.
inline double uniform_deviate(std::span<const int> counts) {
  const auto cells = static_cast<double>(counts.size());
  double total = 0.0;
  for (const int count : counts) total += count;
  const double expected = total / cells;
  double chi_square = 0.0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  return chi_square_deviate(chi_square, cells - 1.0);
}

/// (sample mean - mean) / its standard error.
inline double mean_deviate(std::span<const double> sample, double mean, double variance) {
  double sum = 0.0;
  for (const double x : sample) sum += x - mean;
  return sum / std::sqrt(variance * static_cast<double>(sample.size()));
}

/// Kolmogorov-Smirnov distance from the distribution function `cdf`, times sqrt(n). Not normal:
/// above 1.95 once in a thousand samples.
template <class Cdf>
double kolmogorov_distance(std::vector<double> sample, Cdf&& cdf) {
  std::ranges::sort(sample);
  const auto n = static_cast<double>(sample.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double share = cdf(sample[i]);
    largest = std::max(
        {largest, share - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - share});
  }
  return largest * std::sqrt(n);
}

inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// Correlation of a[i] with b[i + lag], times sqrt(n): a deviate. Both have n numbers; lag may be
/// negative.
inline double correlation_deviate(std::span<const double> a, std::span<const double> b, int lag) {
  if (lag < 0) return correlation_deviate(b, a, -lag);
  const std::size_t n = a.size() - lag;
  const auto mean = [n](std::span<const double> x) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i];
    return sum / static_cast<double>(n);
  };
  b = b.subspan(lag);
  const double mean_a = mean(a), mean_b = mean(b);
  double aa = 0.0, bb = 0.0, ab = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb) * std::sqrt(static_cast<double>(n));
}

}  // namespace saccade
