#include "env/given_environment.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "env/glimpse_environment.h"
#include "tests/env/digit_fixtures.h"
#include "tests/env/environment_calls.h"

namespace saccade {
namespace {

constexpr CanvasSize kSize{.channels = 3, .rows = 24, .cols = 37};
const RetinaConfig kRetina{.patch_size = 7, .scales = 2, .scale_factor = 3};

SceneMaker scene_maker(const Dataset& digits) {
  return {{.kind = "cluttered", .canvas = {24, 37}, .distractor_size = 5},
          {},
          digits,
          DigitOrder::fixed,
          1};
}

// The canvases of the first scenes, concatenated.
std::vector<std::uint8_t> canvases_of(const SceneMaker& scenes, int count) {
  std::vector<std::uint8_t> all;
  for (int n = 0; n < count; ++n) {
    const Scene scene = draw(scenes, n);
    all.insert(all.end(), scene.canvas.begin(), scene.canvas.end());
  }
  return all;
}

}  // namespace

TEST_CASE("given canvases look like the scenes they come from, repeatedly") {
  const Dataset digits = noise_digits(13, 10, 8, 3, 10);
  const SceneMaker scenes = scene_maker(digits);
  const Retina retina(kRetina, 24, 37, 3);
  const std::vector<std::uint8_t> canvases = canvases_of(scenes, 5);
  GlimpseEnvironment world(scenes, retina, 5, 1);
  CanvasEnvironment given(canvases, {}, kSize, retina, {}, 7);
  world.reset(0);
  given.reset(10);  // scene 0 of the five
  const GuardedMatrix canvas = view_of(world), same = view_of(given);
  GuardedMatrix locations = random_locations(7, 3), first(5, 2);
  for (int b = 0; b < 5; ++b)
    for (int axis = 0; axis < 2; ++axis) first(b, axis) = locations(b, axis);
  const GuardedMatrix seen = look_at(world, first), again = look_at(given, locations);
  for (int b = 0; b < 5; ++b) {
    for (int i = 0; i < seen.view().cols; ++i) CHECK(again(b, i) == seen(b, i));
    for (int i = 0; i < canvas.view().cols; ++i) CHECK(same(b, i) == canvas(b, i));
  }
  for (int i = 0; i < canvas.view().cols; ++i) CHECK(same(6, i) == canvas(1, i));
  given.restart(0, 4);
  for (int i = 0; i < canvas.view().cols; ++i) CHECK(view_of(given)(0, i) == canvas(4, i));
}

TEST_CASE("an environment of given canvases has only the facts it was given") {
  const std::vector<std::uint8_t> canvases(2 * kSize.pixels());
  const Retina retina(kRetina, 24, 37, 3);
  const std::vector<int> labels = {4, 2};
  CanvasEnvironment told(canvases, labels, kSize, retina, {.num_classes = 5}, 3);
  told.reset(1);
  CHECK(answer_all(told, {2, 2, 2}) == std::vector<float>{1, 0, 1});
  for (const SceneFacts& facts : told.facts()) CHECK(facts.num_digits == 0);

  CanvasEnvironment spelled(canvases, {}, kSize, retina, {AnswerKind::sequence, 11, 4}, 1);
  spelled.reset(0);
  CHECK(spelled.max_symbols() == 4);
  CHECK(spelled.facts()[0].num_symbols == 1);
  CHECK(spelled.facts()[0].symbols[0] == 10);
  CHECK(say_all(spelled, {10, 0, 0, 0}) == std::vector<float>{1});
}

TEST_CASE("a look shows the glimpses as they are then, wherever the agent looks") {
  Tensor<2> glimpses = zeros<2>(3, 4);  // (N, D)
  GlimpseArrayEnvironment handed(glimpses, kSize, {}, 2);
  handed.reset(2);  // scenes 2 and 0
  for (int t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < glimpses.size(); ++i)
      glimpses.data()[i] = 0.01F * static_cast<float>(i + 1) + 0.2F * static_cast<float>(t);
    const GuardedMatrix seen = t < 2 ? look_at(handed, random_locations(2, t))
                                     : look_smoothly(handed, random_locations(2, t));
    for (int i = 0; i < 4; ++i) {
      CHECK(seen(0, i) == glimpses(2, i));
      CHECK(seen(1, i) == glimpses(0, i));
    }
  }
}

}  // namespace saccade
