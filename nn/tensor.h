#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <xtensor/xtensor.hpp>

#include "base/check.h"

namespace saccade {

/// Allocates memory aligned to 64 bytes: the widest SIMD vector, and a cache line.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

/// Owned, row-major, aligned memory with N dimensions. Hot loops do not index it: they use the
/// Matrix views below.
template <std::size_t N>
using Tensor = xt::xtensor<float, N, xt::layout_type::row_major, LineAllocator<float>>;

template <std::size_t N, class... Sizes>
Tensor<N> zeros(Sizes... sizes) {
  return Tensor<N>({static_cast<std::size_t>(sizes)...}, 0.0F);
}

/// A row-major view of memory owned elsewhere: `rows` x `cols`, rows `stride` elements apart.
template <class T>
struct MatrixView {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  int stride = 0;

  T* row(int r) const { return data + static_cast<std::ptrdiff_t>(r) * stride; }
  T& operator()(int r, int c) const { return row(r)[c]; }

  MatrixView columns(int first, int count) const {
    SACCADE_CHECK(first >= 0 && count >= 0 && first + count <= cols);
    return {data + first, rows, count, stride};
  }
  MatrixView row_range(int first, int count) const {
    SACCADE_CHECK(first >= 0 && count >= 0 && first + count <= rows);
    return {row(first), count, cols, stride};
  }
  operator MatrixView<const T>() const { return {data, rows, cols, stride}; }
};

using Matrix = MatrixView<float>;
using ConstMatrix = MatrixView<const float>;

/// Returns row r as a one-row matrix.
template <class T>
MatrixView<T> one_row(MatrixView<T> m, int r) {
  return m.row_range(r, 1);
}

/// Returns the whole tensor as a matrix: the last dimension becomes the columns, all others the
/// rows.
template <std::size_t N>
Matrix matrix(Tensor<N>& tensor) {
  const int cols = static_cast<int>(tensor.shape()[N - 1]);
  const int rows = cols == 0 ? 0 : static_cast<int>(tensor.size() / tensor.shape()[N - 1]);
  return {tensor.data(), rows, cols, cols};
}
template <std::size_t N>
ConstMatrix matrix(const Tensor<N>& tensor) {
  return matrix(const_cast<Tensor<N>&>(tensor));
}

/// Step t of a (T, B, width) tensor as a (B, width) matrix.
inline Matrix step(Tensor<3>& tensor, int t) {
  const int rows = static_cast<int>(tensor.shape()[1]);
  return matrix(tensor).row_range(t * rows, rows);
}
inline ConstMatrix step(const Tensor<3>& tensor, int t) {
  return step(const_cast<Tensor<3>&>(tensor), t);
}

template <std::size_t N>
std::span<float> flat(Tensor<N>& tensor) {
  return {tensor.data(), tensor.size()};
}
template <std::size_t N>
std::span<const float> flat(const Tensor<N>& tensor) {
  return {tensor.data(), tensor.size()};
}

}  // namespace saccade
