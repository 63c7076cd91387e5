#include <doctest/doctest.h>

#include <utility>

#include "base/student_t.h"

namespace saccade {

TEST_CASE("student_t gives the quantiles of scipy.stats.t.ppf(0.975, n)") {
  for (const auto& [degrees, expected] : {std::pair{1, 12.7062},
                                          {2, 4.30265},
                                          {4, 2.77645},
                                          {20, 2.08596},
                                          {21, 2.07961},
                                          {30, 2.04227},
                                          {100, 1.98397},
                                          {10'000, 1.96020}})
    CHECK(student_t(degrees) == doctest::Approx(expected).epsilon(2e-5));
}

}  // namespace saccade
