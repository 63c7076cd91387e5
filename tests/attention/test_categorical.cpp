#include "attention/categorical.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/guarded_matrix.h"
#include "tests/naive.h"
#include "tests/statistics.h"

namespace saccade {
namespace {

constexpr double kError = 1e-5;

NaiveMatrix naive_softmax(const NaiveMatrix& logits, double temperature) {
  NaiveMatrix p(logits.rows, logits.cols);
  for (int r = 0; r < p.rows; ++r) {
    double largest = -INFINITY, sum = 0.0;
    for (int k = 0; k < p.cols; ++k) largest = std::max(largest, logits(r, k));
    for (int k = 0; k < p.cols; ++k)
      sum += p(r, k) = std::exp((logits(r, k) - largest) / temperature);
    for (int k = 0; k < p.cols; ++k) p(r, k) /= sum;
  }
  return p;
}

double naive_entropy(const NaiveMatrix& p) {
  double sum = 0.0;
  for (const double share : p.values) sum -= share * std::log(share);
  return sum;
}

double naive_coverage(const NaiveMatrix& w) {
  double penalty = 0.0;
  for (int k = 0; k < w.cols; ++k) {
    double looked = 0.0;
    for (int t = 0; t < w.rows; ++t) looked += w(t, k);
    penalty += (1.0 - looked) * (1.0 - looked);
  }
  return penalty;
}

double naive_rows(const NaiveMatrix& w) {
  const NaiveMatrix products = product(w, transposed(w));
  double penalty = 0.0;
  for (int i = 0; i < w.rows; ++i)
    for (int j = 0; j < w.rows; ++j)
      penalty += std::pow(products(i, j) - (i == j ? 1.0 : 0.0), 2.0);
  return penalty;
}

/// scale * gradient + the previous contents.
NaiveMatrix added(NaiveMatrix gradient, double scale, ConstMatrix there) {
  for (int r = 0; r < there.rows; ++r)
    for (int c = 0; c < there.cols; ++c) gradient(r, c) = scale * gradient(r, c) + there(r, c);
  return gradient;
}

struct CategoricalSizes {
  int rows, candidates;
  float temperature;
};

const std::vector<CategoricalSizes>& all_sizes() {
  static const std::vector<CategoricalSizes> all = {{1, 1, 1.0F},  {1, 2, 0.5F},  {3, 9, 1.0F},
                                                    {2, 16, 2.5F}, {4, 81, 0.3F}, {2, 400, 4.0F}};
  return all;
}

/// Random logits, their probabilities, and a nonzero initial gradient.
struct CategoricalSituation {
  explicit CategoricalSituation(const CategoricalSizes& s)
      : sizes(s),
        logits(s.rows, s.candidates),
        p(s.rows, s.candidates),
        there(s.rows, s.candidates),
        naive_logits(s.rows, s.candidates) {
    RandomStream stream(3, Purpose::scene, static_cast<std::uint32_t>(s.rows),
                        static_cast<std::uint32_t>(s.candidates));
    naive_logits = NaiveMatrix(logits.randomize(stream).view());
    there.randomize(stream);
    softmax_forward(p.view(), logits.view(), s.temperature);
  }

  NaiveMatrix naive_p() const { return naive_softmax(naive_logits, sizes.temperature); }
  /// The gradient of loss(naive_p()) with respect to the logits.
  NaiveMatrix slope(const std::function<double(const NaiveMatrix&)>& loss) {
    return finite_differences(naive_logits, [&] { return loss(naive_p()); });
  }

  CategoricalSizes sizes;
  GuardedMatrix logits, p, there;
  NaiveMatrix naive_logits;
};

/// The entropy of a single row.
double naive_row_entropy(const NaiveMatrix& p, int row) {
  NaiveMatrix one(1, p.cols);
  for (int k = 0; k < p.cols; ++k) one(0, k) = p(row, k);
  return naive_entropy(one);
}

TEST_CASE("softmax with temperature agrees with plain loops, also in place") {
  for (const CategoricalSizes& sizes : all_sizes()) {
    CAPTURE(sizes.candidates);
    CAPTURE(sizes.temperature);
    CategoricalSituation now(sizes);
    CHECK(largest_error(now.p.view(), now.naive_p()) < 1e-6);
    softmax_forward(now.logits.view(), now.logits.view(), sizes.temperature);
    CHECK(now.logits == now.p);
  }
}

TEST_CASE("extreme logits give a distribution, and non-finite ones stay visible") {
  const std::vector<std::vector<float>> extremes = {{1e30F, 0.0F, -1e30F},
                                                    {-1e30F, -1e30F, -1e30F},
                                                    {88.0F, 89.0F, 1000.0F},
                                                    {-kInf, 0.0F, 1.0F},
                                                    {FLT_MAX, -FLT_MAX, FLT_MAX}};
  for (const std::vector<float>& extreme : extremes)
    for (const float temperature : {0.01F, 1.0F, 100.0F}) {
      CAPTURE(extreme[0]);
      CAPTURE(temperature);
      GuardedMatrix logits(1, 3), p(1, 3), dlogits(1, 3);
      std::ranges::copy(extreme, logits.view().row(0));
      softmax_forward(p.view(), logits.view(), temperature);
      for (int k = 0; k < 3; ++k) CHECK(p(0, k) >= 0.0F);
      CHECK(p(0, 0) + p(0, 1) + p(0, 2) == doctest::Approx(1.0));
      CHECK(std::isfinite(entropy_forward(p.view().row(0), 3)));
      dlogits.fill(0.0F);
      entropy_backward(dlogits.view().row(0), p.view().row(0), 3, temperature, 1.0F);
      for (int k = 0; k < 3; ++k) CHECK(std::isfinite(dlogits(0, k)));
    }
  GuardedMatrix logits(1, 3), p(1, 3);
  logits.fill(0.0F);
  logits(0, 1) = kNan;
  softmax_forward(p.view(), logits.view(), 1.0F);
  for (int k = 0; k < 3; ++k) CHECK(std::isnan(p(0, k)));
}

TEST_CASE("softmax_backward agrees with finite differences, also in place of dp") {
  for (const CategoricalSizes& sizes : all_sizes()) {
    CAPTURE(sizes.candidates);
    CategoricalSituation now(sizes);
    GuardedMatrix dp = now.there, dlogits(sizes.rows, sizes.candidates);
    dlogits.fill(kNan);  // overwritten, not accumulated
    softmax_backward(dlogits.view(), dp.view(), now.p.view(), sizes.temperature);
    const NaiveMatrix naive_dp(dp.view());
    const NaiveMatrix slope = now.slope([&](const NaiveMatrix& p) { return dot(p, naive_dp); });
    CHECK(largest_error(dlogits.view(), slope) < kError);
    CHECK(dp == now.there);
    softmax_backward(dp.view(), dp.view(), now.p.view(), sizes.temperature);
    CHECK(dp == dlogits);
  }
}

TEST_CASE("entropy, and its accumulated gradient") {
  constexpr float kScale = -1.7F;
  for (const CategoricalSizes& sizes : all_sizes()) {
    CAPTURE(sizes.candidates);
    CategoricalSituation now(sizes);
    GuardedMatrix dlogits = now.there;
    for (int r = 0; r < sizes.rows; ++r) {
      CHECK(entropy_forward(now.p.view().row(r), sizes.candidates) ==
            doctest::Approx(naive_row_entropy(now.naive_p(), r)).epsilon(1e-5));
      entropy_backward(dlogits.view().row(r), now.p.view().row(r), sizes.candidates,
                       sizes.temperature, kScale);
    }
    const NaiveMatrix slope = now.slope(naive_entropy);
    CHECK(largest_error(dlogits.view(), added(slope, kScale, now.there.view())) < kError);
  }
  const std::vector<float> certain = {0.0F, 1.0F, 0.0F};
  CHECK(entropy_forward(certain.data(), 3) == 0.0F);
  const std::vector<float> open(8, 0.125F);
  CHECK(entropy_forward(open.data(), 8) == doctest::Approx(std::log(8.0)));
}

TEST_CASE("the accumulated gradient of log p[choice]") {
  constexpr float kScale = 0.6F;
  for (const CategoricalSizes& sizes : all_sizes()) {
    CAPTURE(sizes.candidates);
    CategoricalSituation now(sizes);
    const auto choice_of = [&](int row) { return (5 * row + 1) % sizes.candidates; };
    GuardedMatrix dlogits = now.there;
    for (int r = 0; r < sizes.rows; ++r)
      log_probability_backward(dlogits.view().row(r), now.p.view().row(r), sizes.candidates,
                               choice_of(r), sizes.temperature, kScale);
    const NaiveMatrix slope = now.slope([&](const NaiveMatrix& p) {
      double sum = 0.0;
      for (int r = 0; r < p.rows; ++r) sum += std::log(p(r, choice_of(r)));
      return sum;
    });
    CHECK(largest_error(dlogits.view(), added(slope, kScale, now.there.view())) < kError);
  }
}

void check_penalty(float (*penalty)(Matrix, ConstMatrix, float),
                   double (*naive)(const NaiveMatrix&)) {
  constexpr float kScale = 0.3F;
  for (const CategoricalSizes& sizes : all_sizes()) {
    CAPTURE(sizes.rows);
    CAPTURE(sizes.candidates);
    CategoricalSituation now(sizes);
    GuardedMatrix dw = now.there;
    NaiveMatrix naive_w(now.p.view());
    CHECK(penalty(dw.view(), now.p.view(), kScale) ==
          doctest::Approx(naive(naive_w)).epsilon(kError));
    const NaiveMatrix slope = finite_differences(naive_w, [&] { return naive(naive_w); });
    CHECK(largest_error(dw.view(), added(slope, kScale, now.there.view())) < kError);
  }
}

TEST_CASE("quantiles of a distribution over candidates, and of a narrower one") {
  const std::vector<float> p = {0.0F, 0.2F, 0.3F, 0.0F, 0.5F, 0.0F};
  const auto at = [&](float u, float spread) { return quantile(p.data(), 6, u, spread); };
  CHECK(at(0.0F, 1.0F) == 1);
  CHECK(at(0.19F, 1.0F) == 1);
  CHECK(at(0.21F, 1.0F) == 2);
  CHECK(at(0.49F, 1.0F) == 2);
  CHECK(at(0.51F, 1.0F) == 4);
  CHECK(at(0.999999F, 1.0F) == 4);
  CHECK(at(0.19F, 0.5F) == 2);  // of 0.04, 0.09, 0.25
  CHECK(at(0.35F, 0.5F) == 4);
  CHECK(at(0.05F, 0.05F) == 4);                  // nearly only the most probable one
  const std::vector<float> even(81, 1.0F / 81);  // whose powers are below the smallest float
  CHECK(quantile(even.data(), 81, 0.5F, 0.02F) == 40);
  const std::vector<float> bad = {0.5F, std::numeric_limits<float>::quiet_NaN()};
  CHECK(quantile(bad.data(), 2, 0.5F, 1.0F) == 1);
}

TEST_CASE("the coverage penalty, and its accumulated gradient") {
  check_penalty(coverage_penalty, naive_coverage);
  // Every candidate once: no penalty. One of two chosen twice: (1 - 2)^2 + 1.
  GuardedMatrix w(2, 2), dw(2, 2);
  dw.fill(0.0F);
  w.fill(0.0F);
  w(0, 0) = w(1, 1) = 1.0F;
  CHECK(coverage_penalty(dw.view(), w.view(), 1.0F) == 0.0F);
  w(1, 0) = std::exchange(w(1, 1), 0.0F);
  CHECK(coverage_penalty(dw.view(), w.view(), 1.0F) == 2.0F);
}

TEST_CASE("the row penalty, and its accumulated gradient") {
  check_penalty(row_penalty, naive_rows);
  // Sharp and different rows: no penalty. The same candidate twice: two products of 1.
  GuardedMatrix w(2, 3), dw(2, 3);
  dw.fill(0.0F);
  w.fill(0.0F);
  w(0, 0) = w(1, 2) = 1.0F;
  CHECK(row_penalty(dw.view(), w.view(), 1.0F) == 0.0F);
  w(1, 0) = std::exchange(w(1, 2), 0.0F);
  CHECK(row_penalty(dw.view(), w.view(), 1.0F) == 2.0F);
}

TEST_CASE("draws are distributed according to p") {
  const std::vector<std::vector<float>> distributions = {
      {0.5F, 0.5F},
      {0.1F, 0.2F, 0.3F, 0.4F},
      {0.0F, 0.25F, 0.0F, 0.0F, 0.7F, 0.05F, 0.0F},
      std::vector<float>(81, 1.0F / 81.0F)};
  constexpr int kDraws = 100'000;
  for (const std::vector<float>& p : distributions) {
    CAPTURE(p.size());
    const int n = static_cast<int>(p.size());
    RandomStream stream(1, Purpose::policy_noise, 0, static_cast<std::uint32_t>(n));
    std::vector<int> counts(p.size());
    for (int i = 0; i < kDraws; ++i) {
      const int choice = draw(p.data(), n, stream);
      REQUIRE(choice >= 0);
      REQUIRE(choice < n);
      ++counts[choice];
    }
    double chi_square = 0.0, freedom = -1.0;
    for (int k = 0; k < n; ++k) {
      if (p[k] == 0.0F) {
        CHECK(counts[k] == 0);
        continue;
      }
      const double expected = static_cast<double>(p[k]) * kDraws;
      chi_square += std::pow(counts[k] - expected, 2.0) / expected;
      freedom += 1.0;
    }
    CHECK(chi_square_deviate(chi_square, freedom) < 5.0);
  }
}

TEST_CASE("impossible candidates are not drawn, despite rounding of the sum") {
  // The rounded sum is below many of the uniform draws.
  const std::vector<std::vector<float>> distributions = {
      {1.0F, 0.0F}, {0.0F, 1.0F}, {0.0F, 0.3F, 0.2F, 0.0F, 0.0F}, {0.0F, 1e-30F, 0.0F}};
  for (const std::vector<float>& p : distributions) {
    CAPTURE(p.size());
    RandomStream stream(2, Purpose::policy_noise, 0, 0);
    for (int i = 0; i < 10'000; ++i)
      REQUIRE(p[draw(p.data(), static_cast<int>(p.size()), stream)] > 0.0F);
  }
}

TEST_CASE("the smallest number of a stream draws no candidate with probability 0") {
  const RandomStream stream(1, Purpose::policy_noise, 0, 44'893'179);
  RandomStream copy = stream;
  REQUIRE(copy.uniform() == 0.0F);  // this episode was found by search
  for (const std::vector<float>& p : {std::vector{0.0F, 0.0F, 1.0F}, {0.0F, 0.5F, 0.5F}}) {
    copy = stream;
    CHECK(p[draw(p.data(), 3, copy)] > 0.0F);
  }
}

#ifdef SACCADE_CHECKS
TEST_CASE("distributions of mismatched sizes are refused") {
  GuardedMatrix a(2, 3), b(2, 4);
  a.fill(0.5F);
  b.fill(0.5F);
  CHECK_THROWS_AS(softmax_forward(a.view(), b.view(), 1.0F), std::logic_error);
  CHECK_THROWS_AS(softmax_backward(a.view(), b.view(), a.view(), 1.0F), std::logic_error);
}
#endif

}  // namespace
}  // namespace saccade
