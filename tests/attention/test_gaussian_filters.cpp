#include "attention/gaussian_filters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "nn/random.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

using FilterSizes = GaussianFilters::Sizes;

const std::vector<FilterSizes> kFilterSizes = {{1, 1, 1, 1},   {9, 9, 1, 1},   {9, 9, 1, 3},
                                               {12, 20, 1, 4}, {21, 10, 3, 5}, {16, 16, 3, 8},
                                               {5, 7, 1, 9}};

double filter_centre(const FilterSizes& sizes, const NaiveMatrix& windows, int b, int axis, int i) {
  const int size = axis == 0 ? sizes.cols : sizes.rows;
  const double n = sizes.glimpse, longer = std::max(sizes.rows, sizes.cols);
  const double stride = n > 1 ? (longer - 1) / (n - 1) * std::exp(windows(b, 3)) : 0.0;
  return (size + 1) / 2.0 * (windows(b, axis) + 1.0) + (i - n / 2.0 + 0.5) * stride;
}

/// F_X (axis 0) or F_Y of window b, as in equations 25 and 26.
NaiveMatrix naive_filters(const FilterSizes& sizes, const NaiveMatrix& windows, int b, int axis) {
  NaiveMatrix f(sizes.glimpse, axis == 0 ? sizes.cols : sizes.rows);
  for (int i = 0; i < f.rows; ++i) {
    double z = 0.0;
    for (int a = 0; a < f.cols; ++a) {
      const double distance = a + 1 - filter_centre(sizes, windows, b, axis, i);
      z += f(i, a) = std::exp(-distance * distance / (2.0 * std::exp(windows(b, 2))));
    }
    for (int a = 0; a < f.cols; ++a) f(i, a) /= z;
  }
  return f;
}

NaiveMatrix naive_read(const FilterSizes& sizes, const NaiveMatrix& canvases,
                       const NaiveMatrix& windows) {
  const int n = sizes.glimpse;
  NaiveMatrix glimpses(windows.rows, sizes.channels * n * n);
  for (int b = 0; b < windows.rows; ++b) {
    const NaiveMatrix f_x = naive_filters(sizes, windows, b, 0);
    const NaiveMatrix f_y = naive_filters(sizes, windows, b, 1);
    for (int c = 0; c < sizes.channels; ++c) {
      NaiveMatrix canvas(sizes.rows, sizes.cols);
      for (int i = 0; i < sizes.rows * sizes.cols; ++i)
        canvas.values[i] = canvases(b, c * sizes.rows * sizes.cols + i);
      const NaiveMatrix glimpse = product(product(f_y, canvas), transposed(f_x));
      for (int i = 0; i < n * n; ++i)
        glimpses(b, c * n * n + i) = std::exp(windows(b, 4)) * glimpse.values[i];
    }
  }
  return glimpses;
}

/// Reads of several episodes at several steps.
struct FilterSituation {
  FilterSituation(const FilterSizes& sizes_, int episodes, int steps = 1)
      : sizes(sizes_),
        filters(sizes_),
        memory(filters.make_memory(steps, episodes)),
        canvases(episodes, sizes.channels * sizes.rows * sizes.cols),
        windows(episodes, GaussianFilters::kWindow),
        dwindows(episodes, GaussianFilters::kWindow),
        glimpses(episodes, filters.glimpse_size()),
        dglimpses(episodes, filters.glimpse_size()) {
    RandomStream stream(1, Purpose::scene, 0, 0);
    canvases.randomize(stream);
    dwindows.randomize(stream);
    dglimpses.randomize(stream);
    for (int b = 0; b < episodes; ++b)
      for (int i = 0; i < GaussianFilters::kWindow; ++i) windows(b, i) = 0.5F * stream.normal();
  }
  void forward(int t = 0) {
    glimpses.fill(kNan);
    filters.forward(glimpses.view(), memory, t, canvases.view(), windows.view());
  }
  void backward(int t = 0) {
    filters.backward(dwindows.view(), memory, t, dglimpses.view(), canvases.view(), windows.view());
  }
  void set_windows(const std::array<float, GaussianFilters::kWindow>& window) {
    for (int b = 0; b < windows.view().rows; ++b) std::ranges::copy(window, windows.view().row(b));
  }

  FilterSizes sizes;
  GaussianFilters filters;
  FilterMemory memory;
  GuardedMatrix canvases, windows, dwindows, glimpses, dglimpses;
};

template <class Check>
void for_all_filter_sizes(const Check& check) {
  for (const FilterSizes& sizes : kFilterSizes) {
    CAPTURE(sizes.rows);
    CAPTURE(sizes.cols);
    CAPTURE(sizes.channels);
    CAPTURE(sizes.glimpse);
    check(sizes);
  }
}

TEST_CASE("filter read: agrees with naive loops, and its gradient with finite differences") {
  for_all_filter_sizes([](const FilterSizes& sizes) {
    FilterSituation s(sizes, 4);
    const NaiveMatrix canvases(s.canvases.view()), dglimpses(s.dglimpses.view());
    NaiveMatrix windows(s.windows.view());
    const NaiveMatrix before(s.dwindows.view());  // the gradient is added to it
    s.forward();
    CHECK(largest_error(s.glimpses.view(), naive_read(sizes, canvases, windows)) < 1e-5);
    s.backward();
    const NaiveMatrix slopes = finite_differences(
        windows, [&] { return dot(naive_read(sizes, canvases, windows), dglimpses); });
    CHECK(largest_error(s.dwindows.view(), plus(before, slopes)) < 1e-4);
  });
}

TEST_CASE("filter read: the gradient of the canvases is the transpose of the read") {
  for_all_filter_sizes([](const FilterSizes& sizes) {
    FilterSituation s(sizes, 3);
    s.forward();
    GuardedMatrix dcanvases(3, sizes.channels * sizes.rows * sizes.cols);
    dcanvases.fill(0.5F);  // is accumulated
    s.filters.canvas_backward(dcanvases.view(), s.memory, 0, s.dglimpses.view(), s.windows.view());
    for (int b = 0; b < 3; ++b) {
      double seen = 0.0, traced = 0.0, size = 0.0;
      for (int i = 0; i < s.glimpses.view().cols; ++i) {
        seen += double{s.glimpses.view()(b, i)} * s.dglimpses.view()(b, i);
        size += std::abs(double{s.glimpses.view()(b, i)} * s.dglimpses.view()(b, i));
      }
      for (int i = 0; i < dcanvases.view().cols; ++i)
        traced += s.canvases.view()(b, i) * (dcanvases.view()(b, i) - 0.5);
      CHECK(std::abs(traced - seen) < 1e-4 * (size + 1.0));
    }
  });
}

TEST_CASE("filter read: every step keeps what its backward pass needs") {
  constexpr int kSteps = 3;
  FilterSituation s({12, 20, 3, 4}, 2, kSteps);
  std::vector<GuardedMatrix> windows, expected;
  const GuardedMatrix before = s.dwindows;
  RandomStream stream(2, Purpose::scene, 0, 0);
  for (int t = 0; t < kSteps; ++t) {
    s.windows.randomize(stream);
    s.dwindows = before;
    s.forward();
    s.backward();
    windows.push_back(s.windows);
    expected.push_back(s.dwindows);
  }
  for (int t = 0; t < kSteps; ++t) {
    s.windows = windows[t];
    s.forward(t);
  }
  for (int t = kSteps - 1; t >= 0; --t) {
    s.windows = windows[t];
    s.dwindows = before;
    s.backward(t);
    CHECK(s.dwindows == expected[t]);
  }
}

TEST_CASE("filter rows sum to one wherever the window is") {
  for_all_filter_sizes([](const FilterSizes& sizes) {
    for (const float centre : {-1e4F, -3.0F, -1.0F, -0.3F, 0.0F, 1.0F, 2.5F, 1e4F})
      for (const float log_variance : {-100.0F, -8.0F, 0.0F, 8.0F, 100.0F})
        for (const float log_delta : {-100.0F, -2.0F, 0.0F, 3.0F, 100.0F}) {
          CAPTURE(centre);
          CAPTURE(log_variance);
          CAPTURE(log_delta);
          FilterSituation s(sizes, 1);
          s.set_windows({centre, -centre, log_variance, log_delta, 0.0F});
          s.canvases.fill(1.0F);  // each filter sees its own sum
          s.forward();
          for (int i = 0; i < s.filters.glimpse_size(); ++i)
            REQUIRE(s.glimpses(0, i) == doctest::Approx(1.0F).epsilon(1e-5));
          s.backward();
          for (int i = 0; i < GaussianFilters::kWindow; ++i)
            REQUIRE(std::isfinite(s.dwindows(0, i)));
        }
  });
}

TEST_CASE("a window far outside sees the nearest edge; NaN stays visible") {
  FilterSituation s({6, 8, 1, 4}, 1);
  for (const float sigma : {-4.0F, 1.0F}) {
    s.set_windows({-500.0F, 500.0F, sigma, 0.0F, 0.0F});
    s.forward();
    for (int i = 0; i < s.filters.glimpse_size(); ++i)
      CHECK(s.glimpses(0, i) == doctest::Approx(s.canvases(0, 5 * 8)));  // the bottom left pixel
  }
  for (int broken = 0; broken < GaussianFilters::kWindow; ++broken) {
    CAPTURE(broken);
    s.set_windows({0.0F, 0.0F, 0.0F, 0.0F, 0.0F});
    s.windows(0, broken) = kNan;
    s.forward();
    CHECK(std::isnan(s.glimpses(0, 0)));
  }
}

TEST_CASE("logarithms beyond their limits have no gradient") {
  for (const float log : {-31.0F, 31.0F}) {
    FilterSituation s({9, 9, 1, 3}, 1);
    s.set_windows({0.01F, 0.02F, log, log, log});
    const GuardedMatrix before = s.dwindows;
    s.forward();
    s.backward();
    for (const int i : {2, 3, 4}) CHECK(s.dwindows(0, i) == before(0, i));
  }
}

TEST_CASE("a window over the whole canvas with tiny filters reproduces the canvas") {
  for (const int channels : {1, 3}) {
    FilterSituation s({13, 13, channels, 13}, 2);
    s.set_windows({0.0F, 0.0F, -10.0F, 0.0F, 0.0F});
    s.forward();
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < s.filters.glimpse_size(); ++i)
        REQUIRE(s.glimpses(b, i) == doctest::Approx(s.canvases(b, i)).epsilon(1e-5));
  }
}

TEST_CASE("a window's centre as a location") {
  // One tiny filter aimed at pixel `col`, counted from 0, whose centre is at col + 0.5.
  constexpr int kRows = 6, kCols = 10;
  FilterSituation s({kRows, kCols, 1, 1}, 1);
  for (int row = 0; row < kRows; ++row)
    for (int col = 0; col < kCols; ++col) {
      const float x = 2.0F * (static_cast<float>(col) + 0.5F) / kCols - 1.0F;
      const float y = 2.0F * (static_cast<float>(row) + 0.5F) / kRows - 1.0F;
      s.set_windows({x * kCols / (kCols + 1), y * kRows / (kRows + 1), -8.0F, 0.0F, 0.0F});
      s.forward();
      CHECK(s.glimpses(0, 0) == doctest::Approx(s.canvases(0, row * kCols + col)));
    }
}

TEST_CASE("the initial window covers the canvas with overlapping filters") {
  const GaussianFilters filters({40, 60, 1, 12});
  CHECK(GaussianFilters::initial_log_delta() == 0.0F);
  CHECK(std::exp(0.5F * filters.initial_log_variance()) ==
        doctest::Approx(0.5 * 59.0 / 11.0).epsilon(1e-5));
  for_all_filter_sizes([](const FilterSizes& sizes) {
    CHECK(std::isfinite(GaussianFilters(sizes).initial_log_variance()));
  });
}

TEST_CASE("the work of the filter read is computed from the shapes") {
  const Work work = GaussianFilters({40, 60, 3, 12}).work(5);
  CHECK(work.forward == 5 * 3 * (12 * 40 * 60 + 12 * 60 * 12));
  CHECK(work.backward == 5 * 3 * (12 * 40 * 60 + 2 * 12 * 60 * 12));
}

#ifdef SACCADE_CHECKS
TEST_CASE("the filter read refuses inconsistent sizes") {
  FilterSituation s({6, 8, 1, 4}, 2);
  const auto forward = [&](Matrix glimpses, ConstMatrix canvases, ConstMatrix windows) {
    s.filters.forward(glimpses, s.memory, 0, canvases, windows);
  };
  const Matrix glimpses = s.glimpses.view(), canvases = s.canvases.view(),
               windows = s.windows.view();
  CHECK_NOTHROW(forward(glimpses, canvases, windows));
  CHECK_THROWS_AS(forward(glimpses.columns(0, 15), canvases, windows), std::logic_error);
  CHECK_THROWS_AS(forward(glimpses, canvases.columns(0, 47), windows), std::logic_error);
  CHECK_THROWS_AS(forward(glimpses, canvases, windows.columns(0, 4)), std::logic_error);
  CHECK_THROWS_AS(forward(glimpses, canvases, windows.row_range(0, 1)), std::logic_error);
}
#endif

}  // namespace
}  // namespace saccade
