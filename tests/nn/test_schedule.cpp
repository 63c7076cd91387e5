#include "nn/schedule.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "base/ramp.h"
#include "tests/support.h"

namespace saccade {
namespace {

using doctest::Approx;

TEST_CASE("schedules begin at 1 and end at the final factor") {
  for (const std::string& name : learning_rate_schedules()) {
    CAPTURE(name);
    const double last = name == "constant" ? 1.0 : 0.01;
    CHECK(learning_rate_factor(name, 0.0, 0.0, 0.01) == Approx(1.0));
    CHECK(learning_rate_factor(name, 1.0, 0.0, 0.01) == Approx(last));
    CHECK(learning_rate_factor(name, 1.0, 0.3, 0.01) == Approx(last));
  }
}

TEST_CASE("a schedule has an end if its last factor is the final one") {
  for (const std::string& name : learning_rate_schedules()) {
    CAPTURE(name);
    CHECK(schedule_has_end(name) == (learning_rate_factor(name, 1.0, 0.0, 0.01) != 1.0));
  }
  CHECK_THROWS_AS(schedule_has_end("cosin"), InputError);
}

TEST_CASE("schedules rise linearly during warm-up, continue without a jump and never rise again") {
  constexpr double kWarmup = 0.2;
  for (const std::string& name : learning_rate_schedules()) {
    CAPTURE(name);
    CHECK(learning_rate_factor(name, 0.0, kWarmup, 0.01) == 0.0);
    CHECK(learning_rate_factor(name, 0.05, kWarmup, 0.01) == Approx(0.25));
    CHECK(learning_rate_factor(name, 0.15, kWarmup, 0.01) == Approx(0.75));
    CHECK(learning_rate_factor(name, kWarmup - 1e-9, kWarmup, 0.01) == Approx(1.0));
    CHECK(learning_rate_factor(name, kWarmup, kWarmup, 0.01) == Approx(1.0));
    double before = 1.0;
    for (int i = 20; i <= 100; ++i) {
      const double factor = learning_rate_factor(name, 0.01 * i, kWarmup, 0.01);
      CHECK(factor <= before + 1e-12);
      before = factor;
    }
  }
}

TEST_CASE("schedules have the shape that their name says") {
  // With a warm-up of 0.2 the middle of the rest is at 0.6 and its first quarter at 0.4.
  CHECK(learning_rate_factor("constant", 0.6, 0.2, 0.01) == 1.0);
  CHECK(learning_rate_factor("linear", 0.6, 0.2, 0.02) == Approx(0.51));
  CHECK(learning_rate_factor("linear", 0.4, 0.2, 0.0) == Approx(0.75));
  CHECK(learning_rate_factor("cosine", 0.6, 0.2, 0.02) == Approx(0.51));
  CHECK(learning_rate_factor("cosine", 0.4, 0.2, 0.0) == Approx(0.5 + 0.25 * std::sqrt(2.0)));
  CHECK(learning_rate_factor("exponential", 0.6, 0.2, 0.01) == Approx(0.1));
  CHECK(learning_rate_factor("exponential", 0.4, 0.2, 1e-4) == Approx(0.1));
}

TEST_CASE("an unknown schedule lists the valid ones") {
  CHECK(message_of<InputError>([] { learning_rate_factor("cosin", 0.5, 0.0, 0.1); }) ==
        "unknown training.schedule 'cosin'; allowed: constant, linear, cosine, exponential");
}

TEST_CASE("a ramp moves linearly and then stays constant") {
  const Ramp ramp{0.3, 0.1, 0.5};
  CHECK(ramp.at(0.0) == Approx(0.3));
  CHECK(ramp.at(0.25) == Approx(0.2));
  CHECK(ramp.at(0.5) == Approx(0.1));
  CHECK(ramp.at(0.75) == Approx(0.1));
  CHECK(ramp.at(1.0) == Approx(0.1));
  CHECK(Ramp{0.1, 0.4, 1.0}.at(0.5) == Approx(0.25));
  CHECK(Ramp{0.2, 0.2, 1.0}.at(0.7) == 0.2);
}

}  // namespace
}  // namespace saccade
