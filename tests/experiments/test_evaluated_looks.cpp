// Where an evaluation says that an agent looked: on digits, at the border, how wide; and the
// controls.
#include <doctest/doctest.h>

#include <cmath>

#include "attention/policy.h"
#include "tests/experiments/evaluated_looks.h"

namespace saccade {

TEST_CASE("shuffled looks are those of the previous episode") {
  for (const std::string kind : {"center", "scan"}) {
    const TinyTask tiny({"attention.glimpse.kind=" + kind});
    check_equal(tiny.evaluate(150, 2, {.shuffled = true}), tiny.evaluate(150, 2));
  }
  const TinyTask oracle({"attention.glimpse.kind=oracle"});
  const Evaluation seeing = oracle.evaluate(400, 2);
  const Evaluation shuffled = oracle.evaluate(400, 2, {.shuffled = true});
  CHECK(seeing.distance == 0.0);
  CHECK(shuffled.distance > 0.3);
  CHECK(shuffled.on_target < 0.6);
  CHECK(shuffled.coverage < 0.8 * seeing.coverage);
  CHECK(shuffled.error != seeing.error);

  constexpr int kScenes = 100;  // one chunk
  for (const std::string kind : {"hard_gaussian", "hard_categorical", "soft_grid"}) {
    CAPTURE(kind);
    const TinyTask tiny(with_kind(kind));
    const auto batch = tiny.play(kScenes);
    const Tensor<3> own = batch->look->actions;
    Tensor<3> others = own;
    for (std::size_t t = 0; t < own.shape()[0]; ++t)
      for (int b = 0; b < kScenes; ++b)
        for (std::size_t a = 0; a < own.shape()[2]; ++a)
          others(t, (b + 1) % kScenes, a) = own(t, b, a);
    batch->run(flat(tiny.weights), {.seed = TinyTask::kSeed, .replay = &others});
    CHECK(batch->look->actions == others);
    const Evaluation found = tiny.evaluate(kScenes, 2, {.shuffled = true});
    CHECK(found.error == doctest::Approx(error_of(*batch)));
    if (kind != "soft_grid") check_looks(found, Looks(*batch));
  }
}

TEST_CASE("the controls look where they should") {
  const Evaluation oracle = TinyTask({"attention.glimpse.kind=oracle"}).evaluate(150, 2);
  CHECK(oracle.on_target == 1.0);
  CHECK(oracle.border == 0.0);
  CHECK(oracle.distance == 0.0);

  // The corner of a 6x6 digit on 13x15 is uniform over rows 0-7 and columns 0-9; in rows 1-6 and
  // columns 2-7 it covers the centre.
  const Evaluation center = TinyTask({"attention.glimpse.kind=center"}).evaluate(2000, 2);
  CHECK(center.on_target == doctest::Approx(36.0 / 80.0).epsilon(0.1));
  CHECK(center.border == 0.0);
  double expected = 0.0;  // the mean over all corners
  for (int row = 0; row <= 7; ++row)
    for (int column = 0; column <= 9; ++column)
      expected += std::hypot((row - 3.5) / 6.5, (column - 4.5) / 7.5) / 80.0;
  CHECK(center.distance == doctest::Approx(expected).epsilon(0.03));

  const TinyTask tiny;
  const Evaluation random = tiny.evaluate(2000, 2, {.policy = find_policy("random")});
  CHECK(random.border == doctest::Approx(1.0 - 0.98 * 0.98).epsilon(0.2));
  check_equal(random, tiny.evaluate(2000, 1, {.policy = find_policy("random")}));
}

TEST_CASE("the zoom of each look is counted, and its boxes cover as much") {
  const TinyTask tiny({"attention.glimpse.zoom={from: 1, to: 2}"});
  const Evaluation center = tiny.evaluate(100, 2, {.policy = find_policy("center")});
  REQUIRE(center.zoom_by_glimpse.size() == 3);
  CHECK(center.zoom_by_glimpse[0] == doctest::Approx(2.0));
  CHECK(center.zoom_by_glimpse[1] == doctest::Approx(1.0));
  CHECK(center.zoom_by_glimpse[2] == doctest::Approx(1.0));
  const Evaluation random = tiny.evaluate(2000, 2, {.policy = find_policy("random")});
  for (const double zoom : random.zoom_by_glimpse)  // log-uniform
    CHECK(zoom == doctest::Approx(1.0 / std::log(2.0)).epsilon(0.02));
  const Evaluation close = TinyTask().evaluate(100, 2, {.policy = find_policy("center")});
  CHECK(center.coverage > close.coverage);
  CHECK(close.zoom_by_glimpse == std::vector<double>(3, 1.0));
}

TEST_CASE("the border is at 0.98 and beyond, and looks are counted by glimpse") {
  const Policy policy = [](Matrix samples, const LookRequest& request) {
    for (int b = 0; b < samples.rows; ++b) {
      samples(b, 0) = request.t == 0 ? request.target(b, 0) : request.t == 1 ? 0.979F : -0.98F;
      samples(b, 1) = request.t == 0 ? request.target(b, 1) : -5.0F * (request.t == 2);
    }
  };
  const TinyTask tiny;
  const Evaluation found = tiny.evaluate(150, 2, {.policy = policy});
  CHECK(found.border == doctest::Approx(1.0 / 3.0));
  REQUIRE(found.on_target_by_glimpse.size() == 3);
  CHECK(found.on_target_by_glimpse[0] == doctest::Approx(1.0));
  CHECK(found.on_target_by_glimpse[1] < 0.5);
  CHECK(found.on_target_by_glimpse[2] < 0.2);
  const auto& shares = found.on_target_by_glimpse;
  CHECK(found.on_target == doctest::Approx((shares[0] + shares[1] + shares[2]) / 3.0));
  check_looks(found, Looks(*tiny.play(150, {.policy = policy})));
}

}  // namespace saccade
