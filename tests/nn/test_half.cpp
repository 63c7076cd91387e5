#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "nn/half.h"

namespace saccade {

TEST_CASE("half precision: every number is kept") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float x = from_half(static_cast<std::uint16_t>(bits));
    INFO("bits: " << bits << ", number: " << x);
    if (std::isnan(x))
      CHECK(std::isnan(from_half(to_half(x))));
    else
      CHECK(to_half(x) == bits);
  }
  CHECK(from_half(0x3c00) == 1.0F);
  CHECK(from_half(0xc000) == -2.0F);
  CHECK(from_half(0x0001) == 0x1p-24F);
  CHECK(from_half(0x7bff) == kMostHalf);
  CHECK(from_half(0xfc00) == -std::numeric_limits<float>::infinity());
}

// Between two neighbours the nearer one is taken, at half-way the one whose last bit is 0.
TEST_CASE("half precision: numbers are rounded to the nearest, ties to even") {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float below = from_half(static_cast<std::uint16_t>(bits));
    const float above = from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = below + (above - below) / 2;  // exact: 24 bits hold it
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    INFO("between " << below << " and " << above);
    CHECK(to_half(middle) == even);
    CHECK(to_half(std::nextafter(middle, 0.0F)) == bits);
    CHECK(to_half(std::nextafter(middle, 1e9F)) == bits + 1);
    CHECK(to_half(-middle) == (even | 0x8000));
  }
  CHECK(std::isfinite(from_half(to_half(65519.0F))));
  CHECK(std::isinf(from_half(to_half(65520.0F))));
  CHECK(to_half(-0.0F) == 0x8000);
  CHECK(to_half(1e-30F) == 0);
}

}  // namespace saccade
