#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <xsimd/xsimd.hpp>

// Rows of boxes of pixels, joined by their sum or their largest: what a retina reads. Include only
// from sources of env/.
namespace saccade {

/// A box sum of up to 16 x 16 bytes fits in 16 bits: 256 * 255 < 2^16.
using BoxSum = std::uint16_t;
constexpr int kMaxBoxSide = 16;
constexpr int kMaxRowOfBoxes = 2048 + 2 * kMaxBoxSide;  // pixels

/// Mean pooling: joins pixels by their sum. (Max pooling joins them by the largest.)
struct Mean {
  static int join(int a, int b) { return a + b; }
};
struct Max {
  static int join(int a, int b) { return std::max(a, b); }
};

/// Writes boxes (count) = `scale` times the joined pixels of boxes of `zoom` x `zoom`, side by side
/// from `pixels` on, whose rows are `stride` bytes apart.
template <class Pooling, class Zoom>
void read_boxes(float* __restrict boxes, const std::uint8_t* __restrict pixels, int stride,
                int count, Zoom zoom, float scale) {
  if (zoom == 1) {
    for (int j = 0; j < count; ++j) boxes[j] = static_cast<float>(pixels[j]) * scale;
    return;
  }
  BoxSum joined[kMaxRowOfBoxes];  // of columns
  for (int k = 0; k < count * zoom; ++k) {
    int pool = 0;
    for (int i = 0; i < zoom; ++i) pool = Pooling::join(pool, pixels[i * stride + k]);
    joined[k] = static_cast<BoxSum>(pool);
  }
  for (int j = 0; j < count; ++j) {
    int pool = 0;
    for (int i = 0; i < zoom; ++i) pool = Pooling::join(pool, joined[j * zoom + i]);
    boxes[j] = static_cast<float>(pool) * scale;
  }
}

namespace boxes {

// Vectors of 16 bytes: a glimpse is seldom wide enough for more.
using Arch = std::conditional_t<xsimd::sse4_1::supported(), xsimd::sse4_1, xsimd::default_arch>;
using Pairs = xsimd::batch<std::uint16_t, Arch>;
using Quads = xsimd::batch<std::uint32_t, Arch>;
using Floats = xsimd::batch<float, Arch>;
constexpr int kPixels = 2 * static_cast<int>(Pairs::size);

inline Floats to_float(Quads quads) {
  return xsimd::to_float(xsimd::bitwise_cast<xsimd::batch<std::int32_t, Arch>>(quads));
}

// Writes the kPixels / zoom boxes of kPixels columns. Two pixels are one number, and its bytes are
// added, so that no vector is taken apart before all rows are added.
template <int zoom>
void read_some(float* boxes, const std::uint8_t* pixels, int stride, float scale) {
  Pairs pairs(std::uint16_t{0});
  for (int i = 0; i < zoom; ++i) {
    const auto row =
        Pairs::load_unaligned(reinterpret_cast<const std::uint16_t*>(pixels + i * stride));
    pairs = pairs + (row & Pairs(std::uint16_t{0xFF})) + (row >> 8);
  }
  const auto quads = xsimd::bitwise_cast<Quads>(pairs);
  const Quads even = quads & Quads(0xFFFFU), odd = quads >> 16;
  if constexpr (zoom == 2) {
    const Floats left = to_float(even), right = to_float(odd);
    (xsimd::zip_lo(left, right) * Floats(scale)).store_unaligned(boxes);
    (xsimd::zip_hi(left, right) * Floats(scale)).store_unaligned(boxes + Floats::size);
  } else if constexpr (zoom == 4) {
    (to_float(even + odd) * Floats(scale)).store_unaligned(boxes);
  } else {
    static_assert(zoom == 8);
    std::array<float, Floats::size> halves;
    to_float(even + odd).store_unaligned(halves.data());
    for (std::size_t j = 0; j < halves.size() / 2; ++j)
      boxes[j] = (halves[2 * j] + halves[2 * j + 1]) * scale;
  }
}

}  // namespace boxes

/// The same by explicit vectors, seven times as fast as what compilers make of the loops.
template <class Pooling, int zoom>
requires(std::is_same_v<Pooling, Mean> && (zoom == 2 || zoom == 4 || zoom == 8)) void read_boxes(
    float* __restrict to, const std::uint8_t* __restrict pixels, int stride, int count,
    std::integral_constant<int, zoom>, float scale) {
  constexpr int kBoxes = boxes::kPixels / zoom;
  if (count < kBoxes) return read_boxes<Mean>(to, pixels, stride, count, zoom, scale);
  int j = 0;
  for (; j + kBoxes <= count; j += kBoxes)
    boxes::read_some<zoom>(to + j, pixels + j * zoom, stride, scale);
  if (j == count) return;
  const int last = count - kBoxes;  // overlaps the one before
  boxes::read_some<zoom>(to + last, pixels + last * zoom, stride, scale);
}

}  // namespace saccade
