#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "nn/tensor.h"

// Reference for the fast float code: plain loops in double precision.
namespace saccade {

/// A row-major matrix of doubles.
struct NaiveMatrix {
  NaiveMatrix(int num_rows, int num_cols)
      : rows(num_rows), cols(num_cols), values(static_cast<std::size_t>(num_rows) * num_cols) {}
  explicit NaiveMatrix(ConstMatrix m) : NaiveMatrix(m.rows, m.cols) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) (*this)(r, c) = m(r, c);
  }

  double& operator()(int r, int c) { return values[static_cast<std::size_t>(r) * cols + c]; }
  double operator()(int r, int c) const { return values[static_cast<std::size_t>(r) * cols + c]; }

  int rows, cols;
  std::vector<double> values;
};

inline NaiveMatrix transposed(const NaiveMatrix& a) {
  NaiveMatrix t(a.cols, a.rows);
  for (int r = 0; r < t.rows; ++r)
    for (int c = 0; c < t.cols; ++c) t(r, c) = a(c, r);
  return t;
}

inline NaiveMatrix product(const NaiveMatrix& a, const NaiveMatrix& b) {
  NaiveMatrix y(a.rows, b.cols);
  for (int r = 0; r < y.rows; ++r)
    for (int c = 0; c < y.cols; ++c)
      for (int k = 0; k < a.cols; ++k) y(r, c) += a(r, k) * b(k, c);
  return y;
}

inline NaiveMatrix plus(NaiveMatrix a, const NaiveMatrix& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}

/// Sum of a * b over all elements: a loss whose gradient with respect to `a` is `b`.
inline double dot(const NaiveMatrix& a, const NaiveMatrix& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
  return sum;
}

/// The gradient of loss() with respect to every element of x, by central differences; x is
/// restored.
inline NaiveMatrix finite_differences(NaiveMatrix& x, const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  NaiveMatrix gradient(x.rows, x.cols);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double value = x.values[i];
    x.values[i] = value + kStep;
    const double above = loss();
    x.values[i] = value - kStep;
    const double below = loss();
    x.values[i] = value;
    gradient.values[i] = (above - below) / (2.0 * kStep);
  }
  return gradient;
}

/// The largest |fast - naive| / (1 + |naive|); infinite if fast is NaN.
inline double largest_error(ConstMatrix fast, const NaiveMatrix& naive) {
  double largest = 0.0;
  for (int r = 0; r < naive.rows; ++r)
    for (int c = 0; c < naive.cols; ++c) {
      const double error = std::abs(fast(r, c) - naive(r, c)) / (1.0 + std::abs(naive(r, c)));
      largest = std::isnan(error) ? INFINITY : std::max(largest, error);
    }
  return largest;
}

}  // namespace saccade
