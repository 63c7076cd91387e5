#include "attention/multihead.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/attention/parameter_gradients.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

constexpr double kTolerance = 5e-5;  // gradients are sums of products of rounded sums

struct HeadsSizes {
  int width, heads, steps, episodes;
};
constexpr HeadsSizes kHeadsSizes[] = {{1, 1, 1, 1}, {6, 1, 3, 2},  {6, 2, 4, 3},
                                      {6, 6, 2, 1}, {20, 4, 9, 2}, {34, 2, 18, 1}};

/// A layer with parameters, inputs and gradients, all random.
struct HeadsSituation {
  explicit HeadsSituation(const HeadsSizes& sizes_)
      : sizes(sizes_),
        attention("m", sizes.width, sizes.heads, layout),
        memory(attention.make_memory(sizes.steps, sizes.episodes)),
        parameters(1, static_cast<int>(layout.size())),
        gradient(1, static_cast<int>(layout.size())),
        x(rows(), sizes.width),
        dx(rows(), sizes.width),
        y(rows(), sizes.width),
        dy(rows(), sizes.width),
        weights(rows(), sizes.heads * sizes.steps) {
    RandomStream stream(1, Purpose::scene, 0, 0);
    for (GuardedMatrix* m : {&parameters, &x, &dy}) m->randomize(stream);
    for (int i = 0; i < static_cast<int>(layout.size()); ++i) parameters(0, i) *= 0.5F;
  }

  int rows() const { return sizes.steps * sizes.episodes; }
  Matrix step_of(GuardedMatrix& m, int t) const {
    return m.view().row_range(t * sizes.episodes, sizes.episodes);
  }
  std::span<const float> block() { return parameters.first_row(); }

  void forward() {
    y.fill(0.25F);  // accumulated, not overwritten
    weights.fill(kNan);
    for (int t = 0; t < sizes.steps; ++t)
      attention.forward(step_of(y, t), step_of(weights, t), memory, t, step_of(x, t), block());
  }
  void backward() {
    gradient.fill(kNan);  // overwritten, not accumulated
    dx.fill(kNan);
    for (int t = sizes.steps - 1; t >= 0; --t)
      attention.backward(step_of(dx, t), memory, t, step_of(dy, t), step_of(weights, t), block());
    attention.weight_backward(gradient.first_row(), memory, dy.view(), x.view());
  }

  HeadsSizes sizes;
  ParameterLayout layout;
  MultiHead attention;
  MultiHeadMemory memory;
  GuardedMatrix parameters, gradient, x, dx, y, dy, weights;
};

/// The whole sequence of every episode at once, in double precision, by the paper's formulas.
struct NaiveAttention {
  explicit NaiveAttention(HeadsSituation& s)
      : sizes(s.sizes), x(s.x.view()), parameters(naive_parameters(s.layout, s.block())) {}

  NaiveMatrix affine(const NaiveMatrix& input, const std::string& name) const {
    NaiveMatrix result = product(input, parameters.at(name + ".weight"));
    for (int r = 0; r < result.rows; ++r)
      for (int c = 0; c < result.cols; ++c) result(r, c) += parameters.at(name + ".bias")(0, c);
    return result;
  }

  /// Weights of query t against the keys 0 .. t.
  std::vector<double> weights(const NaiveMatrix& qkv, int t, int b, int head) const {
    const int width = sizes.width / sizes.heads;
    std::vector<double> a;
    double sum = 0.0;
    for (int k = 0; k <= t; ++k) {
      double score = 0.0;
      for (int j = head * width; j < (head + 1) * width; ++j)
        score += qkv(t * sizes.episodes + b, j) * qkv(k * sizes.episodes + b, sizes.width + j);
      a.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
      sum += a.back();
    }
    for (double& value : a) value /= sum;
    return a;
  }

  NaiveMatrix y() const {
    const NaiveMatrix qkv = affine(x, "m.qkv");
    NaiveMatrix context(x.rows, x.cols);
    const int width = sizes.width / sizes.heads;
    for (int t = 0; t < sizes.steps; ++t)
      for (int b = 0; b < sizes.episodes; ++b)
        for (int j = 0; j < sizes.width; ++j) {
          const std::vector<double> a = weights(qkv, t, b, j / width);
          for (int k = 0; k <= t; ++k)
            context(t * sizes.episodes + b, j) +=
                a[k] * qkv(k * sizes.episodes + b, 2 * sizes.width + j);
        }
    return affine(context, "m.output");
  }

  HeadsSizes sizes;
  NaiveMatrix x;
  NaiveParameters parameters;
};

template <class Check>
void for_all_heads_sizes(const Check& check) {
  for (const HeadsSizes& sizes : kHeadsSizes) {
    CAPTURE(sizes.width);
    CAPTURE(sizes.heads);
    CAPTURE(sizes.steps);
    HeadsSituation situation(sizes);
    situation.forward();
    check(situation);
  }
}

TEST_CASE("multi-head attention, step by step, agrees with naive loops over the whole sequence") {
  for_all_heads_sizes([](HeadsSituation& s) {
    const NaiveAttention naive(s);
    NaiveMatrix expected = naive.y();
    for (double& value : expected.values) value += 0.25;
    CHECK(largest_error(s.y.view(), expected) < 1e-5);

    const NaiveMatrix qkv = naive.affine(naive.x, "m.qkv");
    for (int row = 0; row < s.rows(); ++row)
      for (int head = 0; head < s.sizes.heads; ++head) {
        const int t = row / s.sizes.episodes;
        const auto a = naive.weights(qkv, t, row % s.sizes.episodes, head);
        for (int k = 0; k < s.sizes.steps; ++k) {
          const float weight = s.weights(row, head * s.sizes.steps + k);
          CHECK((k <= t ? std::abs(weight - a[k]) < 1e-5 : std::isnan(weight)));
        }
      }
  });
}

TEST_CASE("multi-head attention's gradients agree with finite differences") {
  for_all_heads_sizes([](HeadsSituation& s) {
    if (s.sizes.steps > 9) return;  // the naive loops would take seconds
    NaiveAttention naive(s);
    const NaiveMatrix dy(s.dy.view());
    const auto loss = [&] { return dot(dy, naive.y()); };
    s.backward();
    CHECK(largest_error(s.dx.view(), finite_differences(naive.x, loss)) < kTolerance);
    check_parameter_gradients(s.layout, s.gradient, naive.parameters, loss, kTolerance);
  });
}

TEST_CASE("a second backward pass gives the same bits as the first") {
  for_all_heads_sizes([](HeadsSituation& s) {
    s.backward();
    const GuardedMatrix dx = s.dx, gradient = s.gradient;
    s.forward();
    s.backward();
    CHECK(s.dx == dx);
    for (const Parameter& p : s.layout.parameters())
      for (std::size_t i = p.offset; i < p.offset + p.size(); ++i)
        CHECK(s.gradient(0, static_cast<int>(i)) == gradient(0, static_cast<int>(i)));
  });
}

TEST_CASE("the work of multi-head attention counts every product once") {
  ParameterLayout layout;
  const MultiHead attention("m", 6, 2, layout);
  // 3 steps of (6, 18) and (6, 6) weights; 1 + 2 + 3 keys and as many values of width 6
  CHECK(attention.work(3).forward == 3 * (6 * 18 + 6 * 6) + 2 * 6 * 6);
  CHECK(attention.work(3).backward == 2 * attention.work(3).forward);
}

}  // namespace
}  // namespace saccade
