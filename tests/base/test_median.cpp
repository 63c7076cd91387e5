#include "base/median.h"

#include <doctest/doctest.h>

namespace saccade {

TEST_CASE("the median is in the middle, or between two") {
  CHECK(median({3.0, 1.0, 2.0}) == 2.0);
  CHECK(median({4.0, 1.0, 2.0, 8.0}) == 3.0);
  CHECK(median({5.0}) == 5.0);
}

}  // namespace saccade
