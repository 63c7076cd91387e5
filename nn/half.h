#pragma once

#include <cstdint>

namespace saccade {

/// The largest finite number of half precision.
constexpr float kMostHalf = 65504.0F;

/// Rounds to half precision (IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction), to
/// the nearest, ties to even; what is beyond kMostHalf by half a unit becomes infinite.
std::uint16_t to_half(float x);
/// Exact.
float from_half(std::uint16_t bits);

}  // namespace saccade
