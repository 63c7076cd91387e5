#include "nn/layers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/random.h"
#include "nn/softmax.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

NaiveMatrix naive_softmax(const NaiveMatrix& logits) {
  NaiveMatrix p = logits;
  for (int r = 0; r < p.rows; ++r) {
    double largest = -INFINITY, sum = 0.0;
    for (int c = 0; c < p.cols; ++c) largest = std::max(largest, p(r, c));
    for (int c = 0; c < p.cols; ++c) sum += std::exp(p(r, c) - largest);
    for (int c = 0; c < p.cols; ++c) p(r, c) = std::exp(p(r, c) - largest) / sum;
  }
  return p;
}

TEST_CASE("cross-entropy: forward against naive loops, backward against finite differences") {
  RandomStream stream(3, Purpose::scene, 0, 0);
  constexpr float kScale = 0.25F;
  for (const int classes : {1, 2, 10, 55}) {
    constexpr int kRows = 7;
    CAPTURE(classes);
    GuardedMatrix logits(kRows, classes), p(kRows, classes), dlogits(kRows, classes);
    NaiveMatrix naive_logits(logits.randomize(stream).view());
    std::vector<int> labels(kRows);
    for (int& label : labels) label = stream.below(classes);
    std::vector<float> loss(kRows);

    cross_entropy_forward(p.view(), loss, logits.view(), labels);
    const NaiveMatrix naive_p = naive_softmax(naive_logits);
    CHECK(largest_error(p.view(), naive_p) < 1e-6);
    for (int r = 0; r < kRows; ++r)
      CHECK(std::abs(loss[r] + std::log(naive_p(r, labels[r]))) < 2e-6);

    dlogits.fill(kNan);
    cross_entropy_backward(dlogits.view(), p.view(), labels, kScale);
    const auto total_loss = [&] {
      const NaiveMatrix q = naive_softmax(naive_logits);
      double sum = 0.0;
      for (int r = 0; r < kRows; ++r) sum -= kScale * std::log(q(r, labels[r]));
      return sum;
    };
    CHECK(largest_error(dlogits.view(), finite_differences(naive_logits, total_loss)) < 1e-6);
  }
}

TEST_CASE("cross-entropy of extreme logits") {
  struct Extreme {
    std::vector<float> logits;
    int label;
    double loss;
  };
  const std::vector<Extreme> cases = {{{1e4F, -1e4F, 0.0F}, 0, 0.0},
                                      {{1e4F, -1e4F, 0.0F}, 1, 2e4},
                                      {{-1e30F, -1e30F, -1e30F}, 2, std::log(3.0)},
                                      {{1e30F, 0.0F, 0.0F}, 1, 1e30},
                                      {{88.0F, 89.0F, 200.0F}, 2, 0.0},
                                      {{-200.0F, -200.0F, -300.0F}, 0, std::log(2.0)},
                                      {{-kInf, 0.0F, 0.0F}, 1, std::log(2.0)}};
  for (const Extreme& extreme : cases) {
    GuardedMatrix logits(1, 3), p(1, 3);
    std::ranges::copy(extreme.logits, logits.view().row(0));
    CAPTURE(extreme.loss);
    float loss = kNan;
    cross_entropy_forward(p.view(), {&loss, 1}, logits.view(), std::vector{extreme.label});
    CHECK(loss == doctest::Approx(extreme.loss).epsilon(1e-6));
    CHECK(cross_entropy(logits.view().row(0), 3, extreme.label) == loss);
    CHECK(p(0, 0) + p(0, 1) + p(0, 2) == doctest::Approx(1.0));
  }
  for (int broken = 0; broken < 3; ++broken) {
    GuardedMatrix logits(1, 3), p(1, 3);
    logits.fill(0.0F);
    logits(0, broken) = kNan;
    float loss = 0.0F;
    cross_entropy_forward(p.view(), {&loss, 1}, logits.view(), std::vector{1});
    CHECK(std::isnan(loss));
  }
}

}  // namespace
}  // namespace saccade
