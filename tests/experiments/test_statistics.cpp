#include "experiments/comparison/statistics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "experiments/evaluation/share_interval.h"
#include "nn/random.h"

namespace saccade {

TEST_CASE("the interquartile mean drops a quarter at each end, rounded down") {
  CHECK(interquartile_mean({1.0, 2.0, 30.0}) == doctest::Approx(11.0));  // nothing is dropped
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

TEST_CASE("differences that are all the same have no interval") {
  // 0.31 - 0.30 and 0.21 - 0.20 differ in their last bits.
  for (const std::vector<double>& same :
       {std::vector{-0.01, -0.01}, {0.31 - 0.30, 0.21 - 0.20}, {0.0, 0.0, 0.0}}) {
    const Estimate e = estimate_difference(same);
    CHECK(!e.known);
    CHECK(e.value == doctest::Approx(same[0]));
  }
  const std::vector<double> others = {0.01, 0.0101};
  CHECK(estimate_difference(others).known);
  CHECK(estimate_difference(others).low == estimate_mean(others).low);
  const Estimate a = estimate_mean(std::vector{0.2, 0.2}), b = estimate_mean(std::vector{0.1, 0.1});
  CHECK(!difference_of(a, b).known);
  CHECK(difference_of(a, estimate_mean(std::vector{0.1, 0.11})).known);
}

TEST_CASE("the interval of a difference is Newcombe's") {
  // Newcombe 1998, table II, example (a) by method 10: 56 of 70 and 48 of 80.
  Estimate a{.value = 56.0 / 70.0, .known = true}, b{.value = 48.0 / 80.0, .known = true};
  wilson_interval(a.value, 70, a.low, a.high);
  wilson_interval(b.value, 80, b.low, b.high);
  const Estimate d = difference_of(a, b);
  CHECK(d.known);
  CHECK(d.value == doctest::Approx(0.2));
  CHECK(d.low == doctest::Approx(0.0524).epsilon(0.001));
  CHECK(d.high == doctest::Approx(0.3339).epsilon(0.001));
  const Estimate turned = difference_of(b, a);
  CHECK(turned.low == doctest::Approx(-d.high));
  CHECK(turned.high == doctest::Approx(-d.low));
  b.known = false;
  CHECK_FALSE(difference_of(a, b).known);
}

TEST_CASE("the bootstrap of two values is the binomial distribution of their resamples") {
  // Means of two resampled from {0, 1}: 0, 1/2, 1 with probabilities 1/4, 1/2, 1/4.
  const Estimate e = estimate_interquartile_mean(std::vector{0.0, 1.0});
  CHECK(e.known);
  CHECK(e.value == 0.5);
  CHECK(e.low == 0.0);
  CHECK(e.high == 1.0);
}

TEST_CASE("the interval of a mean is Student's") {
  const Estimate e = estimate_mean(std::vector{1.0, 2.0, 3.0});
  CHECK(e.value == 2.0);
  CHECK(e.low == doctest::Approx(2.0 - 4.30265 / std::sqrt(3.0)));
  CHECK(e.high == doctest::Approx(2.0 + 4.30265 / std::sqrt(3.0)));
}

TEST_CASE("for few runs the interval of the mean has its nominal coverage") {
  constexpr int kTrials = 4000;
  for (const int runs : {3, 5, 10}) {
    CAPTURE(runs);
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      RandomStream stream(1, Purpose::bootstrap, runs, trial);
      std::vector<double> errors(runs);
      for (double& error : errors) error = stream.normal();
      const Estimate e = estimate_mean(errors);
      covered += e.low < 0.0 && e.high > 0.0;
    }
    CHECK(covered > 0.935 * kTrials);
    CHECK(covered < 0.965 * kTrials);
  }
}

TEST_CASE("the same runs always give the same interval") {
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
