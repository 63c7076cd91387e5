#pragma once

#include <vector>

namespace saccade {

/// Noise of a gradient g over draws.
struct GradientNoise {
  double mean_norm = 0.0;  // |mean g|
  double variance = 0.0;   // tr Cov(g)
  // |E g|^2 / tr Cov(g), both unbiased, so that the estimate of a small one may be negative, and
  // its 95 % interval
  double signal_to_noise = 0.0, low = 0.0, high = 0.0;
  std::vector<double> mean;
};

/// `gradients`: (draws, numbers), at least 3 draws. The interval is that of a normal distribution,
/// its standard error by the jackknife, and does not reach below 0.
GradientNoise measure_noise(const std::vector<std::vector<float>>& gradients);

double distance(const std::vector<double>& a, const std::vector<double>& b);
double norm(const std::vector<double>& a);

}  // namespace saccade
