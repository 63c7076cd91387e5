#include "nn/rows.h"

#include <doctest/doctest.h>

#include <cmath>

#include "nn/random.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

TEST_CASE("products of a matrix and a vector against naive loops, on views of wider matrices") {
  RandomStream stream(1, Purpose::scene, 0, 0);
  for (const int rows : {0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 81})
    for (const int cols : {1, 2, 5, 7, 8, 9, 15, 16, 17, 23, 33, 60, 128, 131}) {
      CAPTURE(rows);
      CAPTURE(cols);
      GuardedMatrix m(rows, cols), x(1, cols), w(1, rows), products(1, rows), total(1, cols);
      const NaiveMatrix naive_m(m.randomize(stream).view()), naive_x(x.randomize(stream).view()),
          naive_w(w.randomize(stream).view());
      const NaiveMatrix expected = product(naive_x, transposed(naive_m));
      NaiveMatrix expected_total = product(naive_w, naive_m);

      products.fill(kNan);
      row_products(products.view().row(0), m.view(), x.view().row(0));
      CHECK(largest_error(products.view(), expected) < 1e-5);

      total.fill(kNan);
      weighted_rows(total.view().row(0), w.view().row(0), m.view());
      CHECK(largest_error(total.view(), expected_total) < 1e-5);
      const NaiveMatrix before(total.randomize(stream).view());
      for (int c = 0; c < cols; ++c) expected_total(0, c) += before(0, c);
      add_weighted_rows(total.view().row(0), w.view().row(0), m.view());
      CHECK(largest_error(total.view(), expected_total) < 1e-5);

      for (int r = 0; r < rows; ++r) {
        const float* row = m.view().row(r);
        REQUIRE(dot(row, x.view().row(0), cols) ==
                doctest::Approx(expected(0, r)).scale(1.0).epsilon(1e-5));
        // A row's product does not depend on its position.
        float alone = kNan;
        row_products(&alone, m.view().row_range(r, 1), x.view().row(0));
        REQUIRE(alone == products(0, r));
      }
      double naive_sum = 0.0;
      for (int c = 0; c < cols; ++c) naive_sum += x(0, c);
      CHECK(sum(x.view().row(0), cols) == doctest::Approx(naive_sum).scale(1.0).epsilon(1e-5));
    }
}

TEST_CASE("sums of outer products against naive loops, on views of wider matrices") {
  RandomStream stream(2, Purpose::scene, 0, 0);
  for (const int rows : {0, 1, 7, 8, 9, 15, 16, 17})
    for (const int cols : {1, 7, 8, 17, 60}) {
      CAPTURE(rows);
      CAPTURE(cols);
      GuardedMatrix w(rows, 5), m(rows, cols), y(5, cols);
      const NaiveMatrix naive_w(w.randomize(stream).view()), naive_m(m.randomize(stream).view());
      NaiveMatrix expected = product(transposed(naive_w), naive_m);
      y.fill(kNan);
      add_outer_products(y.view(), w.view(), m.view(), 0.0F);
      CHECK(largest_error(y.view(), expected) < 1e-5);
      const NaiveMatrix before(y.randomize(stream).view());
      for (std::size_t i = 0; i < before.values.size(); ++i) expected.values[i] += before.values[i];
      add_outer_products(y.view(), w.view(), m.view(), 1.0F);
      CHECK(largest_error(y.view(), expected) < 1e-5);
    }
}

#ifdef SACCADE_CHECKS
TEST_CASE("vectors of known length must match, in checked builds") {
  GuardedMatrix m(3, 4), x(1, 4), y(1, 3);
  RandomStream stream(3, Purpose::scene, 0, 0);
  for (GuardedMatrix* all : {&m, &x, &y}) all->randomize(stream);
  CHECK_NOTHROW(row_products(y.view(), m.view(), x.view()));
  CHECK_NOTHROW(weighted_rows(x.view(), y.view(), m.view()));
  CHECK_NOTHROW(add_weighted_rows(x.view(), y.view(), m.view()));
  CHECK_THROWS_AS(row_products(x.view(), m.view(), x.view()), std::logic_error);
  CHECK_THROWS_AS(row_products(y.view(), m.view(), y.view()), std::logic_error);
  CHECK_THROWS_AS(weighted_rows(y.view(), y.view(), m.view()), std::logic_error);
  CHECK_THROWS_AS(weighted_rows(x.view(), x.view(), m.view()), std::logic_error);
  CHECK_THROWS_AS(add_weighted_rows(m.view(), y.view(), m.view()), std::logic_error);
}
#endif

TEST_CASE("NaN reaches the products it belongs to, and no other") {
  RandomStream stream(2, Purpose::scene, 0, 0);
  for (const int cols : {5, 8, 19})
    for (int broken = 0; broken < cols; ++broken) {
      CAPTURE(cols);
      CAPTURE(broken);
      GuardedMatrix m(10, cols), x(1, cols), w(1, 10), products(1, 10), total(1, cols);
      m.randomize(stream);
      x.randomize(stream);
      w.randomize(stream);
      m(9, broken) = kNan;
      row_products(products.view().row(0), m.view(), x.view().row(0));
      weighted_rows(total.view().row(0), w.view().row(0), m.view());
      for (int r = 0; r < 10; ++r) REQUIRE(std::isnan(products(0, r)) == (r == 9));
      for (int c = 0; c < cols; ++c) REQUIRE(std::isnan(total(0, c)) == (c == broken));
    }
}

}  // namespace
}  // namespace saccade
