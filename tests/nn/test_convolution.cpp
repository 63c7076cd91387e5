#include "nn/convolution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "nn/layers.h"
#include "nn/parallel.h"
#include "nn/random.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

using Sizes = Convolution::Sizes;

NaiveMatrix naive_convolution(const NaiveMatrix& x, const NaiveMatrix& w, const NaiveMatrix& b,
                              const Sizes& s) {
  NaiveMatrix y(x.rows, s.output_size());
  for (int image = 0; image < x.rows; ++image)
    for (int row = 0; row < s.output_rows(); ++row)
      for (int col = 0; col < s.output_cols(); ++col)
        for (int filter = 0; filter < s.filters; ++filter) {
          double z = b(0, filter);
          for (int i = 0; i < s.kernel_size; ++i)
            for (int j = 0; j < s.kernel_size; ++j) {
              const int from_row = row * s.stride + i - s.padding;
              const int from_col = col * s.stride + j - s.padding;
              if (from_row < 0 || from_row >= s.rows || from_col < 0 || from_col >= s.cols)
                continue;
              for (int c = 0; c < s.channels; ++c)
                z += x(image, (from_row * s.cols + from_col) * s.channels + c) *
                     w((i * s.kernel_size + j) * s.channels + c, filter);
            }
          y(image, (row * s.output_cols() + col) * s.filters + filter) = std::max(0.0, z);
        }
  return y;
}

// A layer with random values after a forward and a backward pass.
struct Played {
  Played(const Sizes& sizes, int images, RandomStream& stream)
      : convolution(sizes),
        x(images, sizes.input_size()),
        w(sizes.patch_size(), sizes.filters),
        b(1, sizes.filters),
        dy(images, sizes.output_size()),
        y(images, sizes.output_size()),
        dx(images, sizes.input_size()),
        dw(sizes.patch_size(), sizes.filters),
        db(1, sizes.filters) {
    for (GuardedMatrix* input : {&x, &w, &b, &dy}) input->randomize(stream);
  }

  void play() {
    for (GuardedMatrix* output : {&y, &dx, &dw, &db})
      output->fill(kNan);  // overwritten, not
                           // accumulated
    convolution.relu_forward(y.view(), x.view(), w.view(), b.view());
    GuardedMatrix dz = dy;
    relu_backward(dz.view(), y.view());
    convolution.backward(dw.view(), db.view(), dz.view(), x.view());
    convolution.input_backward(dx.view(), dz.view(), w.view());
  }

  bool operator==(const Played& other) const {
    return y == other.y && dx == other.dx && dw == other.dw && db == other.db;
  }

  Convolution convolution;
  GuardedMatrix x, w, b, dy;    // inputs
  GuardedMatrix y, dx, dw, db;  // results
};

const std::vector<Sizes> kSizes = {
    // rows, cols, channels, filters, kernel_size, stride, padding
    {1, 1, 1, 1, 1, 1, 0},  {5, 7, 1, 3, 3, 1, 0}, {4, 4, 2, 5, 4, 1, 0},  {5, 6, 1, 2, 3, 1, 1},
    {6, 5, 2, 4, 5, 2, 2},  {8, 7, 2, 3, 2, 3, 1}, {7, 8, 3, 17, 3, 2, 1}, {2, 3, 1, 2, 5, 2, 2},
    {9, 7, 1, 17, 3, 2, 0}, {8, 9, 2, 8, 5, 1, 0},
};

TEST_CASE("a convolution: forward against naive loops, backward against finite differences") {
  RandomStream stream(1, Purpose::scene, 0, 0);
  for (std::size_t n = 0; n < kSizes.size(); ++n)
    for (const int images : {1, 3}) {
      CAPTURE(n);
      CAPTURE(images);
      const Sizes& sizes = kSizes[n];
      Played played(sizes, images, stream);
      played.play();
      NaiveMatrix x(played.x.view()), w(played.w.view()), b(played.b.view());
      const NaiveMatrix dy(played.dy.view());
      CHECK(largest_error(played.y.view(), naive_convolution(x, w, b, sizes)) < 1e-5);
      const auto loss = [&] { return dot(naive_convolution(x, w, b, sizes), dy); };
      CHECK(largest_error(played.dx.view(), finite_differences(x, loss)) < 1e-5);
      CHECK(largest_error(played.dw.view(), finite_differences(w, loss)) < 1e-5);
      CHECK(largest_error(played.db.view(), finite_differences(b, loss)) < 1e-5);
    }
}

TEST_CASE("convolution: repeated passes over the same input give the same bits") {
  RandomStream stream(2, Purpose::scene, 0, 0);
  for (std::size_t n = 0; n < kSizes.size(); ++n) {
    CAPTURE(n);
    Played played(kSizes[n], 3, stream);
    played.play();
    Played again = played;
    again.x.randomize(stream);
    again.play();
    again.x = played.x;
    again.play();
    CHECK(again == played);
  }
}

TEST_CASE("convolution: an image gives the same bits alone and in a batch") {
  RandomStream stream(3, Purpose::scene, 0, 0);
  const Sizes& sizes = kSizes.at(6);
  constexpr int kImages = 4;
  Played played(sizes, kImages, stream);
  played.play();
  for (int image = 0; image < kImages; ++image) {
    std::vector<float> y(sizes.output_size());
    played.convolution.relu_forward({y.data(), 1, sizes.output_size(), sizes.output_size()},
                                    played.x.view().row_range(image, 1), played.w.view(),
                                    played.b.view());
    CHECK(std::ranges::equal(y, std::span(played.y.view().row(image), y.size())));
  }
}

// Output images that are adjacent in memory are computed in one product, whose last block is
// partial.
TEST_CASE("convolution: images that share a product get the same result") {
  RandomStream stream(7, Purpose::scene, 0, 0);
  const Sizes sizes{12, 12, 1, 6, 5, 2, 0};
  constexpr int kImages = 200;
  Played apart(sizes, kImages, stream);
  apart.play();

  Convolution convolution(sizes);
  Tensor<2> y = zeros<2>(kImages, sizes.output_size()), dz = y;
  convolution.relu_forward(matrix(y), apart.x.view(), apart.w.view(), apart.b.view());
  CHECK(largest_error(matrix(y), NaiveMatrix(apart.y.view())) < 1e-6);

  copy_rows(matrix(dz), apart.dy.view());
  relu_backward(matrix(dz), matrix(y));
  GuardedMatrix dx = apart.dx, dw = apart.dw, db = apart.db;
  dx.fill(kNan);
  convolution.input_backward(dx.view(), matrix(dz), apart.w.view());
  CHECK(largest_error(dx.view(), NaiveMatrix(apart.dx.view())) < 1e-6);
  for (const float beta : {0.0F, 1.0F}) {  // overwrite, then accumulate
    if (beta == 0.0F) dw.fill(kNan), db.fill(kNan);
    convolution.backward(dw.view(), db.view(), matrix(dz), apart.x.view(), beta);
    for (auto [found, expected] : {std::pair(&dw, &apart.dw), std::pair(&db, &apart.db)})
      for (int r = 0; r < found->view().rows; ++r)
        for (int c = 0; c < found->view().cols; ++c)
          CHECK((*found)(r, c) == doctest::Approx((1.0F + beta) * (*expected)(r, c)).epsilon(1e-4));
  }
}

TEST_CASE("convolution: weight gradients from shared products are the same up to rounding") {
  RandomStream stream(8, Purpose::scene, 0, 0);
  Sizes sizes{4, 4, 8, 6, 3, 1, 1};
  constexpr int kImages = 70;  // 28 share a product
  Played apart(sizes, kImages, stream);
  apart.play();

  sizes.share_products = true;
  Convolution convolution(sizes);
  Tensor<2> dz = zeros<2>(kImages, sizes.output_size());
  copy_rows(matrix(dz), apart.dy.view());
  relu_backward(matrix(dz), apart.y.view());
  GuardedMatrix dw = apart.dw, db = apart.db;
  dw.fill(kNan), db.fill(kNan);
  for (const float beta : {0.0F, 1.0F}) {  // overwrite, then accumulate
    convolution.backward(dw.view(), db.view(), matrix(dz), apart.x.view(), beta);
    for (auto [found, expected] : {std::pair(&dw, &apart.dw), std::pair(&db, &apart.db)})
      for (int r = 0; r < found->view().rows; ++r)
        for (int c = 0; c < found->view().cols; ++c)
          CHECK((*found)(r, c) == doctest::Approx((1.0F + beta) * (*expected)(r, c)).epsilon(1e-4));
  }
}

TEST_CASE("convolution: forward has no relu") {
  RandomStream stream(9, Purpose::scene, 0, 0);
  Played played(kSizes.at(6), 2, stream);
  played.play();
  GuardedMatrix linear = played.y;
  linear.fill(kNan);
  played.convolution.forward(linear.view(), played.x.view(), played.w.view(), played.b.view());
  int negative = 0;
  for (int r = 0; r < linear.view().rows; ++r)
    for (int c = 0; c < linear.view().cols; ++c) {
      CHECK(std::max(0.0F, linear(r, c)) == played.y(r, c));
      negative += linear(r, c) < 0.0F;
    }
  CHECK(negative > 0);
}

TEST_CASE("convolution: the same bits on every thread") {
  RandomStream stream(4, Purpose::scene, 0, 0);
  const Sizes sizes{30, 30, 4, 8, 5, 2, 2};
  Played expected(sizes, 2, stream);
  std::vector<Played> all(8, expected);
  expected.play();
  Workers workers(2);
  workers.for_each(static_cast<int>(all.size()), [&](int i) { all[i].play(); });
  for (const Played& played : all) CHECK(played == expected);
}

TEST_CASE("convolution: NaN reaches the output") {
  RandomStream stream(5, Purpose::scene, 0, 0);
  const Sizes& sizes = kSizes.at(4);
  Played played(sizes, 1, stream);
  played.w(0, 1) = kNan;
  played.play();
  const int last = sizes.output_size() - sizes.filters;  // the only one fully inside
  CHECK(std::isnan(played.y(0, last + 1)));
  CHECK(!std::isnan(played.y(0, last)));
  CHECK(std::isnan(played.dx(0, 0)));
}

#ifdef SACCADE_CHECKS
TEST_CASE("convolution: inconsistent sizes are refused") {
  RandomStream stream(6, Purpose::scene, 0, 0);
  Sizes sizes = kSizes.at(4);
  Played p(sizes, 2, stream);
  CHECK_NOTHROW(p.play());
  CHECK_THROWS_AS(p.convolution.relu_forward(p.x.view(), p.x.view(), p.w.view(), p.b.view()),
                  std::logic_error);
  CHECK_THROWS_AS(p.convolution.relu_forward(p.y.view(), p.y.view(), p.w.view(), p.b.view()),
                  std::logic_error);
  CHECK_THROWS_AS(
      p.convolution.relu_forward(p.y.view().row_range(0, 1), p.x.view(), p.w.view(), p.b.view()),
      std::logic_error);
  CHECK_THROWS_AS(p.convolution.backward(p.dw.view(), p.db.view(), p.x.view(), p.x.view()),
                  std::logic_error);
  CHECK_THROWS_AS(p.convolution.backward(p.dw.view(), p.db.view(), p.dy.view(), p.y.view()),
                  std::logic_error);
  CHECK_THROWS_AS(p.convolution.input_backward(p.dx.view(), p.x.view(), p.w.view()),
                  std::logic_error);
  CHECK_THROWS_AS(p.convolution.input_backward(p.dy.view(), p.dy.view(), p.w.view()),
                  std::logic_error);
  sizes.kernel_size = sizes.cols + 2 * sizes.padding + 1;
  CHECK_THROWS_AS(Convolution{sizes}, std::logic_error);
}
#endif

}  // namespace
}  // namespace saccade
