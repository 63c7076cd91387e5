#include "experiments/comparison/statistics.h"

#include <doctest/doctest.h>

#include <cmath>

namespace saccade {

TEST_CASE("the interquartile mean leaves out a quarter at each end, rounded down") {
  CHECK(interquartile_mean({1.0, 2.0, 30.0}) == doctest::Approx(11.0));  // nothing left out
  CHECK(interquartile_mean({100.0, 2.0, 3.0, -50.0}) == doctest::Approx(2.5));
  CHECK(interquartile_mean({9.0, 1.0, 2.0, 3.0, 100.0}) == doctest::Approx(14.0 / 3.0));
  // scipy.stats.trim_mean([0, 1, ..., 9], 0.25)
  CHECK(interquartile_mean({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) == doctest::Approx(4.5));
}

TEST_CASE("one value has no interval") {
  const std::vector<double> one = {0.3};
  const Estimate e = estimate_mean(one);
  CHECK(!e.known);
  CHECK(e.value == 0.3);
  CHECK(e.low == 0.3);
  CHECK(e.high == 0.3);
  CHECK(!estimate_improvement(one, std::vector{0.4, 0.5}).known);
}

TEST_CASE("the bootstrap of two values is the binomial distribution of their resamples") {
  // Means of two resamples of {0, 1}: 0, 1/2, 1 with 1/4, 1/2, 1/4.
  const Estimate e = estimate_mean(std::vector{0.0, 1.0});
  CHECK(e.known);
  CHECK(e.value == 0.5);
  CHECK(e.low == 0.0);
  CHECK(e.high == 1.0);
}

TEST_CASE("the interval of a mean is about 1.96 standard errors wide at each side") {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(std::sin(1.0 + i * 0.7));
  double mean = 0.0, square = 0.0;
  for (const double v : values) mean += v / 200.0;
  for (const double v : values) square += (v - mean) * (v - mean) / 200.0;
  const double error = std::sqrt(square / 200.0);
  const Estimate e = estimate_mean(values, 20'000);
  CHECK(e.value == doctest::Approx(mean));
  CHECK((mean - e.low) / error == doctest::Approx(1.96).epsilon(0.02));
  CHECK((e.high - mean) / error == doctest::Approx(1.96).epsilon(0.02));
}

TEST_CASE("the same runs give the same interval, in any number of calls") {
  const std::vector<double> values = {0.031, 0.027, 0.035, 0.029, 0.033};
  const Estimate first = estimate_interquartile_mean(values);
  const Estimate second = estimate_interquartile_mean(values);
  CHECK(first.low == second.low);
  CHECK(first.high == second.high);
  CHECK(first.low < first.value);
  CHECK(first.value < first.high);
}

TEST_CASE("the probability of improvement counts pairs, ties by half") {
  CHECK(improvement_probability(std::vector{1.0, 2.0}, std::vector{3.0, 4.0}) == 1.0);
  CHECK(improvement_probability(std::vector{3.0, 4.0}, std::vector{1.0, 2.0}) == 0.0);
  CHECK(improvement_probability(std::vector{1.0, 3.0}, std::vector{1.0, 2.0}) == 0.375);
  const Estimate e = estimate_improvement(std::vector{1.0, 3.0, 5.0}, std::vector{2.0, 4.0, 6.0});
  CHECK(e.value == doctest::Approx(6.0 / 9.0));
  CHECK(e.low < e.value);
  CHECK(e.high == 1.0);
}

}  // namespace saccade
