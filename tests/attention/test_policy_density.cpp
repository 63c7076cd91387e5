// Log-probability and entropy of the Gaussian policy, and of its zoom.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "attention/policy.h"
#include "tests/attention/policy_situation.h"
#include "tests/statistics.h"

namespace saccade {
namespace {

double naive_log_probability(const std::array<double, 2>& sample, const std::array<double, 2>& mean,
                             double log_std) {
  const double variance = std::exp(2.0 * log_std);
  double log_probability = 0.0;
  for (int axis = 0; axis < 2; ++axis)
    log_probability += -std::pow(sample[axis] - mean[axis], 2) / (2.0 * variance) -
                       0.5 * std::log(2.0 * std::numbers::pi * variance);
  return log_probability;
}

TEST_CASE("log-probability of the unclamped sample, and its derivatives by finite differences") {
  constexpr double kStep = 1e-6;
  constexpr float kScale = -0.7F;
  RandomStream stream(3, Purpose::scene, 0, 0);
  for (const float std : {0.02F, 0.1F, 0.25F, 1.0F, 3.0F})
    for (int i = 0; i < 20; ++i) {
      CAPTURE(std);
      const std::array<float, 2> mean = {stream.uniform(-1.0F, 1.0F), stream.uniform(-1.0F, 1.0F)};
      // Many of these are outside the canvas.
      const std::array<float, 2> sample = {mean[0] + 2.0F * std * stream.normal(),
                                           mean[1] + 2.0F * std * stream.normal()};
      const std::array<double, 2> l = {sample[0], sample[1]}, mu = {mean[0], mean[1]};
      const double log_std = std::log(static_cast<double>(std));
      CHECK(gaussian_log_probability_forward(sample.data(), mean.data(), std) ==
            doctest::Approx(naive_log_probability(l, mu, log_std)).epsilon(1e-5));

      std::array<float, 2> dmean = {10.0F, -20.0F};  // accumulated
      const float dlog_std =
          gaussian_log_probability_backward(dmean.data(), sample.data(), mean.data(), std, kScale);
      for (int axis = 0; axis < 2; ++axis) {
        std::array<double, 2> above = mu, below = mu;
        above[axis] += kStep;
        below[axis] -= kStep;
        const double slope =
            (naive_log_probability(l, above, log_std) - naive_log_probability(l, below, log_std)) /
            (2.0 * kStep);
        CHECK(dmean[axis] - (axis == 0 ? 10.0F : -20.0F) ==
              doctest::Approx(kScale * slope).epsilon(1e-4));
      }
      const double slope = (naive_log_probability(l, mu, log_std + kStep) -
                            naive_log_probability(l, mu, log_std - kStep)) /
                           (2.0 * kStep);
      CHECK(dlog_std == doctest::Approx(kScale * slope).epsilon(1e-4));
    }
}

TEST_CASE("log-probability shows a NaN sample") {
  const std::array<float, 2> mean = {0.0F, 0.0F};
  const std::array<float, 2> sample = {0.0F, std::numeric_limits<float>::quiet_NaN()};
  CHECK(std::isnan(gaussian_log_probability_forward(sample.data(), mean.data(), 0.1F)));
}

TEST_CASE("entropy is the mean negative log-probability") {
  constexpr int kEpisodes = 20000;
  const Policy policy = find_policy("hard_gaussian");
  for (const float std : {0.05F, 0.5F, 2.0F}) {
    CAPTURE(std);
    const double log_std = std::log(static_cast<double>(std));
    CHECK(gaussian_entropy(std) ==
          doctest::Approx(1.0 + std::log(2.0 * std::numbers::pi) + 2.0 * log_std).epsilon(1e-6));
    CHECK(gaussian_entropy(std * std::numbers::e_v<float>) - gaussian_entropy(std) ==
          doctest::Approx(2.0).epsilon(1e-5));
    PolicySituation situation(kEpisodes);
    const GuardedMatrix samples = situation.sample(policy, 0, 8, std);
    std::vector<double> surprise;
    for (int b = 0; b < kEpisodes; ++b)
      surprise.push_back(-gaussian_log_probability_forward(samples.view().row(b),
                                                           situation.mean.view().row(b), std));
    // Half a chi-square of 2 degrees of freedom: variance 1.
    CHECK(std::abs(mean_deviate(surprise, gaussian_entropy(std), 1.0)) < 5);
  }
}

TEST_CASE("zoom: log-probability and entropy are those of a Gaussian on the line") {
  RandomStream stream(4, Purpose::scene, 0, 0);
  for (const float std : {0.05F, 0.3F, 2.0F}) {
    const float mean = stream.uniform(-1.0F, 1.0F), sample = mean + 2.0F * std * stream.normal();
    const auto naive = [&](double mu) {
      return -0.5 * std::pow((sample - mu) / std, 2) -
             0.5 * std::log(2.0 * std::numbers::pi * std * std);
    };
    CHECK(zoom_log_probability_forward(sample, mean, std) ==
          doctest::Approx(naive(mean)).epsilon(1e-5));
    CHECK(zoom_log_probability_backward(sample, mean, std, -0.7F) ==
          doctest::Approx(-0.7 * (naive(mean + 1e-6) - naive(mean - 1e-6)) / 2e-6).epsilon(1e-4));
    CHECK(zoom_entropy(std) ==
          doctest::Approx(0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e * std * std))
              .epsilon(1e-5));
  }
}

}  // namespace
}  // namespace saccade
