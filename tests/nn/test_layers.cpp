#include "nn/layers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "nn/gemm.h"
#include "nn/random.h"
#include "nn/softmax.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

NaiveMatrix naive_linear(const NaiveMatrix& x, const NaiveMatrix& w, const NaiveMatrix& b,
                         bool relu) {
  NaiveMatrix y = product(x, w);
  for (int r = 0; r < y.rows; ++r)
    for (int c = 0; c < y.cols; ++c) {
      y(r, c) += b(0, c);
      if (relu) y(r, c) = std::max(0.0, y(r, c));
    }
  return y;
}

struct LayerSizes {
  int rows, inputs, outputs;
};

void check_linear(LayerSizes sizes, bool relu, RandomStream& stream) {
  CAPTURE(sizes.rows);
  CAPTURE(sizes.inputs);
  CAPTURE(sizes.outputs);
  CAPTURE(relu);
  GuardedMatrix x(sizes.rows, sizes.inputs), w(sizes.inputs, sizes.outputs), b(1, sizes.outputs);
  GuardedMatrix y(sizes.rows, sizes.outputs), dy(sizes.rows, sizes.outputs);
  NaiveMatrix naive_x(x.randomize(stream).view()), naive_w(w.randomize(stream).view()),
      naive_b(b.randomize(stream).view());
  const NaiveMatrix naive_dy(dy.randomize(stream).view());

  y.fill(kNan);
  (relu ? linear_relu_forward : linear_forward)(y.view(), x.view(), w.view(), b.view());
  CHECK(largest_error(y.view(), naive_linear(naive_x, naive_w, naive_b, relu)) < 1e-5);

  const auto loss = [&] { return dot(naive_linear(naive_x, naive_w, naive_b, relu), naive_dy); };
  GuardedMatrix dx(sizes.rows, sizes.inputs), dw(sizes.inputs, sizes.outputs), db(1, sizes.outputs);
  dw.fill(kNan);  // gradients overwrite, not accumulate
  db.fill(kNan);
  if (relu) relu_backward(dy.view(), y.view());
  linear_backward(dw.view(), db.view(), dy.view(), x.view());
  multiply_transposed_b(dx.view(), dy.view(), w.view());
  CHECK(largest_error(dx.view(), finite_differences(naive_x, loss)) < 1e-5);
  CHECK(largest_error(dw.view(), finite_differences(naive_w, loss)) < 1e-5);
  CHECK(largest_error(db.view(), finite_differences(naive_b, loss)) < 1e-5);
}

TEST_CASE("linear layers: forward against naive loops, backward against finite differences") {
  RandomStream stream(1, Purpose::scene, 0, 0);
  for (const LayerSizes sizes :
       {LayerSizes{1, 1, 1}, {1, 5, 17}, {3, 2, 16}, {7, 13, 5}, {20, 3, 33}}) {
    check_linear(sizes, false, stream);
    check_linear(sizes, true, stream);
  }
}

TEST_CASE("linear_backward with beta 1 accumulates") {
  RandomStream stream(2, Purpose::scene, 0, 0);
  for (const LayerSizes sizes : {LayerSizes{1, 1, 1}, {1, 5, 17}, {7, 13, 5}, {20, 3, 33}}) {
    CAPTURE(sizes.rows);
    CAPTURE(sizes.inputs);
    CAPTURE(sizes.outputs);
    GuardedMatrix x(sizes.rows, sizes.inputs), dy(sizes.rows, sizes.outputs);
    GuardedMatrix dw(sizes.inputs, sizes.outputs), db(1, sizes.outputs);
    const NaiveMatrix naive_x(x.randomize(stream).view()), naive_dy(dy.randomize(stream).view());
    const NaiveMatrix naive_dw =
        plus(NaiveMatrix(dw.randomize(stream).view()), product(transposed(naive_x), naive_dy));
    NaiveMatrix naive_db(db.randomize(stream).view());
    for (int r = 0; r < sizes.rows; ++r)
      for (int c = 0; c < sizes.outputs; ++c) naive_db(0, c) += naive_dy(r, c);

    linear_backward(dw.view(), db.view(), dy.view(), x.view(), 1.0F);
    CHECK(largest_error(dw.view(), naive_dw) < 1e-5);
    CHECK(largest_error(db.view(), naive_db) < 1e-5);
  }
}

TEST_CASE("copy_rows, add and add_relu, element by element") {
  RandomStream stream(3, Purpose::scene, 0, 0);
  for (const LayerSizes sizes :
       {LayerSizes{0, 0, 3}, {1, 0, 1}, {3, 0, 5}, {2, 0, 16}, {7, 0, 33}}) {
    CAPTURE(sizes.rows);
    CAPTURE(sizes.outputs);
    GuardedMatrix x(sizes.rows, sizes.outputs), y(sizes.rows, sizes.outputs);
    x.randomize(stream);
    y.randomize(stream);
    GuardedMatrix copy = y, sum = y, relu = y;
    copy_rows(copy.view(), x.view());
    add(sum.view(), x.view());
    add_relu(relu.view(), x.view());
    for (int r = 0; r < sizes.rows; ++r)
      for (int c = 0; c < sizes.outputs; ++c) {
        CHECK(sum(r, c) == y(r, c) + x(r, c));
        CHECK(relu(r, c) == std::max(0.0F, y(r, c) + x(r, c)));
      }
    CHECK(copy == x);
  }
  GuardedMatrix y(1, 3), x(1, 3);
  std::ranges::copy(std::vector{kNan, kInf, -kInf}, y.view().row(0));
  x.fill(1.0F);
  add_relu(y.view(), x.view());
  CHECK(std::isnan(y(0, 0)));
  CHECK(y(0, 1) == kInf);
  CHECK(y(0, 2) == 0.0F);
}

TEST_CASE("relu: the gradient at zero is zero, and non-finite values stay visible") {
  GuardedMatrix y(2, 5), b(1, 5);
  const std::vector<float> inputs = {kNan, kInf, -kInf, -1.0F, 2.0F};
  b.fill(0.0F);
  for (int r = 0; r < 2; ++r) std::ranges::copy(inputs, y.view().row(r));
  b(0, 3) = 1.0F;
  bias_relu(y.view(), b.view());
  for (int r = 0; r < 2; ++r) {
    CHECK(std::isnan(y(r, 0)));
    CHECK(y(r, 1) == kInf);
    CHECK(y(r, 2) == 0.0F);
    CHECK(y(r, 3) == 0.0F);
    CHECK(y(r, 4) == 2.0F);
  }
  GuardedMatrix dy(2, 5);
  dy.fill(3.0F);
  dy(1, 4) = kNan;
  relu_backward(dy.view(), y.view());
  CHECK(dy(0, 3) == 0.0F);
  CHECK(dy(0, 4) == 3.0F);
  CHECK(dy(1, 3) == 0.0F);
  CHECK(std::isnan(dy(1, 4)));

  // A single NaN weight reaches the output through the product.
  GuardedMatrix x(1, 3), w(3, 2), out(1, 2);
  x.fill(1.0F);
  w.fill(-1.0F);
  w(1, 1) = kNan;
  linear_relu_forward(out.view(), x.view(), w.view(), b.view().columns(0, 2));
  CHECK(out(0, 0) == 0.0F);
  CHECK(std::isnan(out(0, 1)));
}

NaiveMatrix naive_layer_norm(const NaiveMatrix& x, const NaiveMatrix& gain,
                             const NaiveMatrix& shift) {
  NaiveMatrix y(x.rows, x.cols);
  for (int r = 0; r < x.rows; ++r) {
    double mean = 0.0, variance = 0.0;
    for (int j = 0; j < x.cols; ++j) mean += x(r, j) / x.cols;
    for (int j = 0; j < x.cols; ++j) variance += std::pow(x(r, j) - mean, 2) / x.cols;
    for (int j = 0; j < x.cols; ++j)
      y(r, j) = gain(0, j) * (x(r, j) - mean) / std::sqrt(variance + 1e-5) + shift(0, j);
  }
  return y;
}

// Each row is spread by `spread` around `centre`.
void check_layer_norm(LayerSizes sizes, float spread, float centre, RandomStream& stream) {
  CAPTURE(sizes.rows);
  CAPTURE(sizes.outputs);
  CAPTURE(spread);
  const int rows = sizes.rows, width = sizes.outputs;
  GuardedMatrix x(rows, width), gain(1, width), shift(1, width), dy(rows, width);
  for (GuardedMatrix* m : {&x, &gain, &shift, &dy}) m->randomize(stream);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < width; ++j) x(r, j) = centre + spread * x(r, j);
  NaiveMatrix naive_x(x.view()), naive_gain(gain.view()), naive_shift(shift.view());
  const NaiveMatrix naive_dy(dy.view());

  GuardedMatrix y(rows, width), normalized(rows, width), inverse(rows, 1);
  for (GuardedMatrix* m : {&y, &normalized, &inverse}) m->fill(kNan);
  layer_norm_forward(y.view(), normalized.view(), inverse.view(), x.view(), gain.view(),
                     shift.view());
  CHECK(largest_error(y.view(), naive_layer_norm(naive_x, naive_gain, naive_shift)) < 1e-4);

  GuardedMatrix dx(rows, width), dgain(1, width), dshift(1, width);
  dx.fill(0.5F);  // accumulated, not overwritten
  dgain.fill(0.5F);
  dshift.fill(0.5F);
  layer_norm_backward(dx.view(), dgain.view(), dshift.view(), dy.view(), normalized.view(),
                      inverse.view(), gain.view());
  const auto check_added = [&](ConstMatrix fast, NaiveMatrix& numbers) {
    NaiveMatrix slope = finite_differences(
        numbers, [&] { return dot(naive_layer_norm(naive_x, naive_gain, naive_shift), naive_dy); });
    for (double& value : slope.values) value += 0.5;
    CHECK(largest_error(fast, slope) < 1e-4);
  };
  check_added(dx.view(), naive_x);
  check_added(dgain.view(), naive_gain);
  check_added(dshift.view(), naive_shift);
}

TEST_CASE("layer norm: forward against naive loops, backward against finite differences") {
  RandomStream stream(4, Purpose::scene, 0, 0);
  for (const LayerSizes sizes :
       {LayerSizes{1, 0, 1}, {1, 0, 2}, {3, 0, 5}, {2, 0, 16}, {7, 0, 33}}) {
    check_layer_norm(sizes, 1.0F, 0.0F, stream);
    check_layer_norm(sizes, 3.0F, -5.0F, stream);
    check_layer_norm(sizes, 0.01F, 0.0F, stream);  // small enough for epsilon to matter
  }
}

TEST_CASE("layer norm of a constant row is the shift") {
  GuardedMatrix x(1, 4), gain(1, 4), shift(1, 4), y(1, 4), normalized(1, 4), inverse(1, 1);
  x.fill(2.0F);
  gain.fill(3.0F);
  shift.fill(-1.0F);
  layer_norm_forward(y.view(), normalized.view(), inverse.view(), x.view(), gain.view(),
                     shift.view());
  for (int j = 0; j < 4; ++j) CHECK(y(0, j) == -1.0F);
}

TEST_CASE("add_bias adds to every row") {
  RandomStream stream(5, Purpose::scene, 0, 0);
  GuardedMatrix y(3, 17), b(1, 17);
  y.randomize(stream);
  b.randomize(stream);
  GuardedMatrix sum = y;
  add_bias(sum.view(), b.view());
  for (int r = 0; r < 3; ++r)
    for (int j = 0; j < 17; ++j) CHECK(sum(r, j) == y(r, j) + b(0, j));
}

struct Activation {
  const char* name;
  void (*fast)(float*, int);
  double (*naive)(double);
  float below, above;  // limits at -inf and inf
};

const std::vector<Activation> kActivations = {
    {"sigmoid", sigmoid, [](double z) { return 1.0 / (1.0 + std::exp(-z)); }, 0.0F, 1.0F},
    {"tanh", saccade::tanh, [](double z) { return std::tanh(z); }, -1.0F, 1.0F}};

TEST_CASE("sigmoid and tanh are accurate") {
  for (const Activation& activation : kActivations) {
    CAPTURE(activation.name);
    std::vector<float> inputs;
    for (int i = -300000; i <= 300000; ++i) inputs.push_back(1e-4F * static_cast<float>(i));
    std::vector<float> outputs = inputs;
    activation.fast(outputs.data(), static_cast<int>(outputs.size()));
    double largest = 0.0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double error = std::abs(outputs[i] - activation.naive(inputs[i]));
      largest = std::isnan(error) ? INFINITY : std::max(largest, error);
    }
    CHECK(largest < 2e-7);

    std::vector<float> tails = {-50.0F, -88.0F, -90.0F, -104.0F, -1000.0F, -FLT_MAX, -kInf};
    const std::size_t count = tails.size();
    for (std::size_t i = 0; i < count; ++i) tails.push_back(-tails[i]);
    activation.fast(tails.data(), static_cast<int>(tails.size()));
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(tails[i] == doctest::Approx(activation.below).epsilon(1e-20));
      CHECK(tails[count + i] == activation.above);
    }
  }
}

TEST_CASE("exp is accurate") {
  std::vector<float> inputs;
  for (int i = -870000; i <= 870000; ++i) inputs.push_back(1e-4F * static_cast<float>(i));
  std::vector<float> outputs = inputs;
  saccade::exp(outputs.data(), static_cast<int>(outputs.size()));
  double largest = 0.0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double error = std::abs(outputs[i] / std::exp(static_cast<double>(inputs[i])) - 1.0);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  CHECK(largest < 3e-7);

  std::vector<float> tails = {-88.0F, -104.0F, -FLT_MAX, -kInf, 100.0F, kInf, kNan};
  saccade::exp(tails.data(), static_cast<int>(tails.size()));
  for (int i = 0; i < 4; ++i) CHECK(tails[i] == doctest::Approx(0.0).epsilon(1e-30));
  for (int i = 4; i < 6; ++i) CHECK(tails[i] == kInf);
  CHECK(std::isnan(tails[6]));
}

TEST_CASE("sigmoid and tanh give the same result at every position and length, and pass on NaN") {
  RandomStream stream(2, Purpose::scene, 0, 0);
  for (const Activation& activation : kActivations)
    for (int n = 0; n <= 70; ++n) {
      CAPTURE(activation.name);
      CAPTURE(n);
      GuardedMatrix x(1, n);
      const GuardedMatrix inputs = x.randomize(stream);
      activation.fast(x.view().row(0), n);
      for (int i = 0; i < n; ++i) {
        float alone = inputs(0, i);
        activation.fast(&alone, 1);
        REQUIRE(x(0, i) == alone);
        REQUIRE(alone == doctest::Approx(activation.naive(inputs(0, i))).epsilon(1e-6));
      }
      for (int i = 0; i < n; ++i) {
        GuardedMatrix broken = inputs;
        broken(0, i) = kNan;
        activation.fast(broken.view().row(0), n);
        REQUIRE(std::isnan(broken(0, i)));
      }
    }
}

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

#ifdef SACCADE_CHECKS
TEST_CASE("layers refuse inconsistent sizes") {
  GuardedMatrix a(2, 3), b(2, 4), c(3, 4), bias(1, 4);
  std::vector<float> loss(2);
  const std::vector<int> labels = {0, 1};
  CHECK_NOTHROW(linear_forward(b.view(), a.view(), c.view(), bias.view()));
  CHECK_THROWS_AS(linear_forward(a.view(), a.view(), c.view(), bias.view()), std::logic_error);
  CHECK_THROWS_AS(linear_relu_forward(b.view(), b.view(), c.view(), bias.view()), std::logic_error);
  CHECK_THROWS_AS(linear_backward(c.view(), bias.view(), a.view(), b.view()), std::logic_error);
  CHECK_THROWS_AS(relu_backward(a.view(), b.view()), std::logic_error);
  CHECK_THROWS_AS(copy_rows(a.view(), b.view()), std::logic_error);
  CHECK_THROWS_AS(add(b.view(), c.view()), std::logic_error);
  CHECK_THROWS_AS(add_relu(a.view(), b.view()), std::logic_error);
  CHECK_THROWS_AS(cross_entropy_forward(a.view(), loss, b.view(), labels), std::logic_error);
  CHECK_THROWS_AS(cross_entropy_forward(a.view(), loss, a.view(), std::vector{0, 3}),
                  std::logic_error);
  CHECK_THROWS_AS(cross_entropy_forward(a.view(), loss, a.view(), std::vector{0, -1}),
                  std::logic_error);
}
#endif

}  // namespace
}  // namespace saccade
