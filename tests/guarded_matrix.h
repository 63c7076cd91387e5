#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// Marks memory that must not be read.
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline constexpr float kInf = std::numeric_limits<float>::infinity();

/// A matrix inside a wider one. A write before, beside or after it changes a guard, which fails the
/// test when the matrix goes out of scope.
class GuardedMatrix {
 public:
  GuardedMatrix(int rows, int cols)
      : rows_(rows), cols_(cols), memory_((rows + 2) * stride(), guard()) {}
  GuardedMatrix(const GuardedMatrix&) = default;
  GuardedMatrix& operator=(const GuardedMatrix&) = default;
  ~GuardedMatrix() { CHECK(intact()); }

  Matrix view() { return {memory_.data() + stride() + kMargin, rows_, cols_, stride()}; }
  ConstMatrix view() const { return const_cast<GuardedMatrix*>(this)->view(); }
  std::span<float> first_row() { return {view().data, static_cast<std::size_t>(cols_)}; }
  float& operator()(int r, int c) { return view()(r, c); }
  float operator()(int r, int c) const { return view()(r, c); }

  void fill(float value) {
    for (int r = 0; r < rows_; ++r) std::fill_n(view().row(r), cols_, value);
  }
  /// Standard normal numbers.
  GuardedMatrix& randomize(RandomStream& stream) {
    for (int r = 0; r < rows_; ++r)
      for (int c = 0; c < cols_; ++c) view()(r, c) = stream.normal();
    return *this;
  }

  /// Returns whether the contents are equal bit for bit.
  bool operator==(const GuardedMatrix& other) const {
    if (rows_ != other.rows_ || cols_ != other.cols_) return false;
    for (int r = 0; r < rows_; ++r)
      for (int c = 0; c < cols_; ++c)
        if (bits(view()(r, c)) != bits(other.view()(r, c))) return false;
    return true;
  }

 private:
  bool intact() const {
    for (int r = -1; r <= rows_; ++r)
      for (int c = -kMargin; c < cols_ + kMargin; ++c) {
        const bool inside = r >= 0 && r < rows_ && c >= 0 && c < cols_;
        if (!inside && bits(view()(r, c)) != bits(guard())) return false;
      }
    return true;
  }
  static constexpr int kMargin = 3;  // columns on either side; an odd stride for even matrices
  static float guard() { return -1234.5F; }
  static std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
  int stride() const { return cols_ + 2 * kMargin; }

  int rows_, cols_;
  std::vector<float> memory_;  // (rows + 2, cols + 2 margins)
};

}  // namespace saccade
