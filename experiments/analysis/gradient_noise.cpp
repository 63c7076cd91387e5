#include "experiments/analysis/gradient_noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace saccade {
namespace {

// Of n draws with |mean g|^2 and the sum of |g|^2.
double variance_of(double mean_square, double squares, double n) {
  return (squares - n * mean_square) / (n - 1.0);
}
double signal_to_noise_of(double mean_square, double squares, double n) {
  const double variance = variance_of(mean_square, squares, n);
  return variance > 0.0 ? mean_square / variance - 1.0 / n : 0.0;
}

double product(std::span<const float> g, const std::vector<double>& mean) {
  double sum = 0.0;
  for (std::size_t i = 0; i < g.size(); ++i) sum += g[i] * mean[i];
  return sum;
}

// The standard error of signal_to_noise_of by the jackknife: each draw is left out in turn.
double standard_error(const std::vector<std::vector<float>>& gradients, const GradientNoise& noise,
                      const std::vector<double>& squares, double sum_of_squares) {
  const auto n = static_cast<double>(gradients.size());
  std::vector<double> without;
  for (std::size_t draw = 0; draw < gradients.size(); ++draw) {
    const double mean_square = (n * n * noise.mean_norm * noise.mean_norm -
                                2.0 * n * product(gradients[draw], noise.mean) + squares[draw]) /
                               ((n - 1.0) * (n - 1.0));
    without.push_back(signal_to_noise_of(mean_square, sum_of_squares - squares[draw], n - 1.0));
  }
  const double mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
  double sum = 0.0;
  for (const double one : without) sum += (one - mean) * (one - mean);
  return std::sqrt(sum * (n - 1.0) / n);
}

}  // namespace

GradientNoise measure_noise(const std::vector<std::vector<float>>& gradients) {
  constexpr double kDeviations = 1.96;  // of a normal distribution, to either side of 95 %
  const auto count = static_cast<double>(gradients.size());
  GradientNoise noise;
  noise.mean.assign(gradients.front().size(), 0.0);
  std::vector<double> squares;  // of each draw
  for (const std::vector<float>& g : gradients) {
    squares.push_back(0.0);
    for (std::size_t i = 0; i < g.size(); ++i) {
      noise.mean[i] += g[i] / count;
      squares.back() += static_cast<double>(g[i]) * g[i];
    }
  }
  const double sum_of_squares = std::accumulate(squares.begin(), squares.end(), 0.0);
  double mean_square = 0.0;
  for (const double m : noise.mean) mean_square += m * m;
  noise.mean_norm = std::sqrt(mean_square);
  noise.variance = variance_of(mean_square, sum_of_squares, count);
  noise.signal_to_noise = signal_to_noise_of(mean_square, sum_of_squares, count);
  const double reach = kDeviations * standard_error(gradients, noise, squares, sum_of_squares);
  noise.low = std::max(0.0, noise.signal_to_noise - reach);
  noise.high = std::max(0.0, noise.signal_to_noise + reach);
  return noise;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double norm(const std::vector<double>& a) { return distance(a, std::vector(a.size(), 0.0)); }

}  // namespace saccade
