#include "nn/layers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "nn/gemm.h"
#include "nn/random.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

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
