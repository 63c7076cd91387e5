#pragma once

// The part of xsimd that nn/ and env/ use, for vectors of 16 bytes by clang's own vector types:
// Debian's xsimd has none for WebAssembly. The names are those of xsimd.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace xsimd {

struct simd128 {
  static constexpr bool supported() { return true; }
};
using default_arch = simd128;
using sse4_1 = simd128;
using avx2 = simd128;
template <class Arch>
using fma3 = Arch;

template <class T, class Arch = default_arch>
struct batch {
  static constexpr std::size_t size = 16 / sizeof(T);
  using Vector = T __attribute__((vector_size(16)));
  using Mask = decltype(Vector{} < Vector{});

  batch() = default;
  explicit batch(T value) : data(Vector{} + value) {}
  explicit batch(Vector vector) : data(vector) {}

  static batch load_unaligned(const T* from) {
    batch b;
    __builtin_memcpy(&b.data, from, sizeof b.data);
    return b;
  }
  static batch load_aligned(const T* from) { return load_unaligned(from); }
  void store_unaligned(T* to) const { __builtin_memcpy(to, &data, sizeof data); }
  void store_aligned(T* to) const { store_unaligned(to); }
  T get(std::size_t i) const { return data[i]; }

  batch& operator+=(batch b) { return *this = *this + b; }
  friend batch operator+(batch a, batch b) { return batch(a.data + b.data); }
  friend batch operator-(batch a, batch b) { return batch(a.data - b.data); }
  friend batch operator*(batch a, batch b) { return batch(a.data * b.data); }
  friend batch operator&(batch a, batch b) { return batch(a.data & b.data); }
  friend batch operator>>(batch a, int bits) { return batch(a.data >> static_cast<T>(bits)); }
  friend batch operator-(batch a) { return batch(-a.data); }
  friend Mask operator<=(batch a, batch b) { return a.data <= b.data; }

  Vector data;
};

template <class T, class A>
batch<T, A> fma(batch<T, A> a, batch<T, A> b, batch<T, A> c) {
  return a * b + c;  // rounds twice: WebAssembly has no fused instruction
}

template <class T, class A>
batch<T, A> select(typename batch<T, A>::Mask mask, batch<T, A> yes, batch<T, A> no) {
  return batch<T, A>(mask ? yes.data : no.data);
}

template <class A>
batch<float, A> exp(batch<float, A> a) {
  for (std::size_t i = 0; i < a.size; ++i) a.data[i] = std::exp(a.data[i]);
  return a;
}

/// Element i is the sum of rows[i].
template <class T, class A>
batch<T, A> haddp(const batch<T, A>* rows) {
  batch<T, A> sums;
  for (std::size_t i = 0; i < sums.size; ++i)
    sums.data[i] = (rows[i].data[0] + rows[i].data[1]) + (rows[i].data[2] + rows[i].data[3]);
  return sums;
}

template <class A>
batch<float, A> to_float(batch<std::int32_t, A> a) {
  return batch<float, A>(__builtin_convertvector(a.data, typename batch<float, A>::Vector));
}

template <class To, class T, class A>
To bitwise_cast(batch<T, A> a) {
  To to;
  __builtin_memcpy(&to.data, &a.data, sizeof to.data);
  return to;
}

template <class A>
batch<float, A> zip_lo(batch<float, A> a, batch<float, A> b) {
  return batch<float, A>(__builtin_shufflevector(a.data, b.data, 0, 4, 1, 5));
}
template <class A>
batch<float, A> zip_hi(batch<float, A> a, batch<float, A> b) {
  return batch<float, A>(__builtin_shufflevector(a.data, b.data, 2, 6, 3, 7));
}

}  // namespace xsimd
