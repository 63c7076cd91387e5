#include "nn/gemm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "nn/parallel.h"
#include "nn/random.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {
namespace {

// Returns the largest |fast - naive| relative to the rounding error expected of a sum of `inner`
// products.
double rounding_errors(const GuardedMatrix& fast, const NaiveMatrix& naive,
                       const NaiveMatrix& magnitude, int inner) {
  const double unit = 0.5 * std::numeric_limits<float>::epsilon();
  double largest = 0.0;
  for (int r = 0; r < naive.rows; ++r)
    for (int c = 0; c < naive.cols; ++c) {
      const double error = std::abs(fast(r, c) - naive(r, c));
      const double allowed = unit * (inner + 1) * magnitude(r, c) + 1e-30;
      largest = std::isnan(error) ? INFINITY : std::max(largest, error / allowed);
    }
  return largest;
}

NaiveMatrix absolute(NaiveMatrix a) {
  for (double& x : a.values) x = std::abs(x);
  return a;
}

using Multiply = void (*)(Matrix, ConstMatrix, ConstMatrix, float);

// Checks c (M, N) = a b + beta c, where a and b may be stored transposed.
void check_product(Multiply multiply_fast, bool transpose_a, bool transpose_b, int m, int n, int k,
                   RandomStream& stream) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  GuardedMatrix a(transpose_a ? k : m, transpose_a ? m : k);
  GuardedMatrix b(transpose_b ? n : k, transpose_b ? k : n);
  GuardedMatrix c(m, n);
  const NaiveMatrix naive_a(a.randomize(stream).view()), naive_b(b.randomize(stream).view());
  const NaiveMatrix left = transpose_a ? transposed(naive_a) : naive_a;
  const NaiveMatrix right = transpose_b ? transposed(naive_b) : naive_b;
  NaiveMatrix expected = product(left, right);
  NaiveMatrix magnitude = product(absolute(left), absolute(right));

  c.fill(std::numeric_limits<float>::quiet_NaN());  // with beta = 0, c is not read
  multiply_fast(c.view(), a.view(), b.view(), 0.0F);
  CHECK(rounding_errors(c, expected, magnitude, k) <= 1.0);

  const NaiveMatrix before(c.randomize(stream).view());
  multiply_fast(c.view(), a.view(), b.view(), 1.0F);
  for (std::size_t i = 0; i < before.values.size(); ++i) {
    expected.values[i] += before.values[i];
    magnitude.values[i] += std::abs(before.values[i]);
  }
  CHECK(rounding_errors(c, expected, magnitude, k) <= 1.0);
}

TEST_CASE("matrix products against naive loops, on views of wider matrices") {
  RandomStream stream(1, Purpose::scene, 0, 0);
  for (const int m : {1, 2, 3, 7, 16, 20, 33, 65})
    for (const int n : {1, 2, 5, 15, 16, 17, 49})
      for (const int k : {1, 2, 3, 8, 13, 16, 17, 31, 100}) {
        check_product(multiply, false, false, m, n, k, stream);
        check_product(multiply_transposed_a, true, false, m, n, k, stream);
        check_product(multiply_transposed_b, false, true, m, n, k, stream);
      }
  check_product(multiply, false, false, 128, 257, 432, stream);
  check_product(multiply_transposed_a, true, false, 257, 129, 512, stream);
  check_product(multiply_transposed_b, false, true, 511, 10, 256, stream);
  // Rows of 384 floats including guards: the layout that a product first copies, in blocks of
  // columns.
  for (const int n : {63, 64, 512, 513})
    check_product(multiply_transposed_a, true, false, 378, n, 33, stream);
}

// Whether strides matter depends on the processor; ctest also runs these tests with oneDNN's
// kernels for AVX2, for which they do.
TEST_CASE("matrix products: badly aligned rows are copied where strides matter") {
  const bool matter = spread_stride(512) != 512;
  const char* kernels = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (kernels != nullptr && std::string(kernels) == "AVX2") CHECK(matter);
  CHECK(spread_stride(512) == (matter ? 528 : 512));
  CHECK(spread_stride(1024) == (matter ? 1040 : 1024));
  CHECK(spread_stride(500) == 500);
  RandomStream stream(4, Purpose::scene, 0, 0);
  for (const int cols : {506, 500}) {  // rows of 512 and 506 floats
    const bool copied = matter && cols == 506;
    GuardedMatrix m(7, cols);
    m.randomize(stream);
    SpreadCopy copy;
    for (int now = 0; now < 2; ++now) {
      m(3, 4) += 1.0F;
      copy.take(m.view());
      CHECK((copy.view().data == m.view().data) == !copied);
      CHECK(copy.view().stride == (copied ? 528 : cols + 6));
      for (int r = 0; r < 7; ++r)
        CHECK(std::equal(m.view().row(r), m.view().row(r) + cols, copy.view().row(r)));
    }
  }
}

TEST_CASE("a transposed copy has the columns of the matrix as its rows") {
  RandomStream stream(5, Purpose::scene, 0, 0);
  TransposedCopy copy;
  for (const int rows : {1, 7, 8, 64, 70})
    for (const int cols : {1, 5, 33}) {
      GuardedMatrix m(rows, cols);
      m.randomize(stream);
      copy.take(m.view());
      CHECK(copy.view().rows == cols);
      CHECK(copy.view().cols == rows);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) REQUIRE(copy.view()(c, r) == m(r, c));
    }
}

TEST_CASE("a product without rows does nothing") {
  RandomStream stream(2, Purpose::scene, 0, 0);
  GuardedMatrix c(4, 5), a(4, 3), b(3, 5);
  const GuardedMatrix before = c.randomize(stream);
  multiply(c.view().row_range(0, 0), a.view().row_range(0, 0), b.view());
  CHECK(c == before);
}

TEST_CASE("products give the same bits on every thread") {
  RandomStream stream(3, Purpose::scene, 0, 0);
  constexpr int kTasks = 16;
  GuardedMatrix a(64, 100), b(100, 48), expected(64, 48);
  a.randomize(stream);
  b.randomize(stream);
  multiply(expected.view(), a.view(), b.view());
  std::vector<GuardedMatrix> c(kTasks, expected);
  for (GuardedMatrix& matrix : c) matrix.fill(0.0F);
  Workers workers(4);
  workers.for_each(kTasks, [&](int i) { multiply(c[i].view(), a.view(), b.view()); });
  for (const GuardedMatrix& matrix : c) CHECK(matrix == expected);
}

#ifdef SACCADE_CHECKS
TEST_CASE("sizes that do not fit are refused") {
  GuardedMatrix m23(2, 3), m34(3, 4), m24(2, 4);
  CHECK_NOTHROW(multiply(m24.view(), m23.view(), m34.view()));
  CHECK_THROWS_AS(multiply(m34.view(), m23.view(), m34.view()), std::logic_error);
  CHECK_THROWS_AS(multiply(m23.view(), m23.view(), m34.view()), std::logic_error);
  CHECK_THROWS_AS(multiply(m24.view(), m24.view(), m34.view()), std::logic_error);

  CHECK_NOTHROW(multiply_transposed_a(m34.view(), m23.view(), m24.view()));
  CHECK_THROWS_AS(multiply_transposed_a(m24.view(), m23.view(), m24.view()), std::logic_error);
  CHECK_THROWS_AS(multiply_transposed_a(m34.view(), m23.view(), m34.view()), std::logic_error);

  CHECK_NOTHROW(multiply_transposed_b(m23.view(), m24.view(), m34.view()));
  CHECK_THROWS_AS(multiply_transposed_b(m24.view(), m24.view(), m34.view()), std::logic_error);
  CHECK_THROWS_AS(multiply_transposed_b(m23.view(), m23.view(), m34.view()), std::logic_error);

  CHECK_THROWS_AS(m23.view().columns(2, 2), std::logic_error);
  CHECK_THROWS_AS(m23.view().columns(-1, 2), std::logic_error);
  CHECK_THROWS_AS(m23.view().row_range(1, 2), std::logic_error);
}
#endif

}  // namespace
}  // namespace saccade
