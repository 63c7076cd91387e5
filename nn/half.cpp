#include "nn/half.h"

#include <bit>
#include <cmath>

namespace saccade {
namespace {

constexpr float kLeastNormal = 0x1p-14F;
constexpr float kUnit = 0x1p-24F;             // of the numbers below kLeastNormal
constexpr float kBecomesInfinite = 65520.0F;  // half-way from kMostHalf to 2^16
constexpr int kDropped = 23 - 10;             // bits of the fraction
constexpr std::uint32_t kBias = (127 - 15) << 10;
constexpr std::uint32_t kSign = 0x8000, kInfinity = 0x7c00, kNaN = 0x7e00, kFraction = 0x3ff;

}  // namespace

std::uint16_t to_half(float x) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(x) >> 16 & kSign;
  const auto with_sign = [&](std::uint32_t bits) {
    return static_cast<std::uint16_t>(sign | bits);
  };
  const float size = std::abs(x);
  if (std::isnan(x)) return with_sign(kNaN);
  if (size >= kBecomesInfinite) return with_sign(kInfinity);
  if (size < kLeastNormal)
    return with_sign(static_cast<std::uint32_t>(std::nearbyint(size / kUnit)));
  const auto bits = std::bit_cast<std::uint32_t>(size);
  const std::uint32_t half_less_one = (1U << (kDropped - 1)) - 1, odd = bits >> kDropped & 1;
  return with_sign(((bits + half_less_one + odd) >> kDropped) - kBias);
}

float from_half(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & ~kSign & 0xffff;
  float size = 0.0F;
  if (magnitude <= kFraction)
    size = static_cast<float>(magnitude) * kUnit;
  else if (magnitude < kInfinity)
    size = std::bit_cast<float>((magnitude + kBias) << kDropped);
  else
    size = magnitude == kInfinity ? INFINITY : NAN;
  return (bits & kSign) != 0 ? -size : size;
}

}  // namespace saccade
