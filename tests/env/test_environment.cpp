#include "env/environment.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "env/catch.h"
#include "env/glimpse_environment.h"
#include "env/scene_kinds.h"
#include "env/search.h"
#include "env/words.h"
#include "tests/env/digit_fixtures.h"
#include "tests/env/environment_contract.h"
#include "tests/support.h"

namespace saccade {
namespace {

struct World {
  SceneConfig scene;
  RetinaConfig retina;
  std::array<int, 3> digit;  // rows, cols, channels
  int episodes = 1;
  int rollouts = 1;
  AugmentationConfig augmentation = {};
  DigitOrder order = DigitOrder::shuffled;
  LogRange zoom = {};
};

// The digits must outlive the environments.
Dataset digits_of(const World& w) {
  return noise_digits(13, w.digit[0], w.digit[1], w.digit[2], 10);
}

std::unique_ptr<GlimpseEnvironment> build(const World& w, const Dataset& digits) {
  const SceneMaker scenes(w.scene, w.augmentation, digits, w.order, 1);
  const Retina retina(w.retina, scenes.rows(), scenes.cols(), scenes.channels(), w.zoom);
  return std::make_unique<GlimpseEnvironment>(scenes, retina, w.episodes, w.rollouts);
}

TEST_CASE("glimpse environments satisfy the environment contract") {
  const std::vector<World> worlds = {
      {.scene = {.canvas = {60, 60}}, .retina = {12, 3, 2}, .digit = {28, 28, 1}, .episodes = 8},
      {.scene = {.kind = "translated", .canvas = {24, 37}, .num_digits = 2, .label = "pair"},
       .retina = {7, 2, 3},
       .digit = {10, 8, 3},
       .episodes = 6,
       .rollouts = 3},
      {.scene = {.kind = "centered", .canvas = {9, 30}, .num_digits = 3},
       .retina = {5, 2, 2},
       .digit = {8, 9, 1},
       .episodes = 4,
       .rollouts = 4},
      {.scene = {.canvas = {21, 20}, .num_distractors = 3, .distractor_size = 5, .border = 2},
       .retina = {7, 1, 1},
       .digit = {11, 11, 1}},
      {.scene = {.canvas = {40, 40}, .distractor_size = 6},
       .retina = {8, 4, 2},
       .digit = {14, 14, 3},
       .episodes = 5,
       .augmentation = {.rotation = 20.0, .scale = 0.1},
       .order = DigitOrder::fixed},
      {.scene = {.kind = "bag", .canvas = {31, 40}, .num_digits = 7, .min_digits = 1},
       .retina = {9, 2, 2},
       .digit = {9, 8, 1},
       .episodes = 6,
       .rollouts = 2},
      {.scene = {.kind = "transcribe",
                 .canvas = {20, 60},
                 .num_digits = 5,
                 .min_digits = 1,
                 .num_distractors = 3,
                 .distractor_size = 4},
       .retina = {8, 3, 2},
       .digit = {10, 9, 1},
       .episodes = 8},
      {.scene = {.kind = "translated", .canvas = {24, 37}},
       .retina = {7, 2, 3},
       .digit = {10, 8, 3},
       .episodes = 6,
       .zoom = {1.3, 4.0}}};
  for (const std::string& kind : scene_kinds()) {
    CAPTURE(kind);  // fails for a kind missing here
    CHECK(std::ranges::count(worlds, kind, [](const World& w) { return w.scene.kind; }) > 0);
  }
  for (const World& world : worlds) {
    CAPTURE(fmt::format("{} {} x {}, {} digit(s)", world.scene.kind, world.scene.canvas[0],
                        world.scene.canvas[1], world.scene.num_digits));
    const Dataset digits = digits_of(world);
    const auto make = [&] { return build(world, digits); };
    const auto [rows, cols] = world.scene.canvas;
    check_environment(make, rows, cols);
    if (world.zoom.is_point()) check_grid(make);
    check_canvases(make, rows, cols);
    world.rollouts == 1 ? check_restarts(make) : check_no_restarts(make);
  }
}

TEST_CASE("catch satisfies the environment contract") {
  for (const auto& [rows, cols] : {std::array{24, 24}, {4, 5}, {9, 30}})
    for (const int rollouts : {1, 3}) {
      CAPTURE(rows);
      CAPTURE(rollouts);
      const Retina retina({4, 2, 2}, rows, cols, 1);
      const auto make = [&] {
        return std::make_unique<CatchEnvironment>(std::array{rows, cols}, retina, Split::train, 1,
                                                  6, rollouts);
      };
      check_environment(make, rows, cols);
      check_grid(make);
      check_canvases(make, rows, cols);
      rollouts == 1 ? check_restarts(make) : check_no_restarts(make);
    }
}

TEST_CASE("search satisfies the environment contract") {
  const std::vector<World> worlds = {
      {.scene = {.kind = "search", .canvas = {40, 41}, .num_digits = 8, .min_digits = 1},
       .retina = {6, 3, 2},
       .digit = {10, 9, 1},
       .episodes = 6},
      {.scene = {.kind = "search",
                 .canvas = {21, 30},
                 .num_digits = 4,
                 .border = 2,
                 .target = "brightness"},
       .retina = {5, 2, 3},
       .digit = {8, 8, 3},
       .episodes = 6,
       .rollouts = 3,
       .augmentation = {.rotation = 20.0, .scale = 0.1},
       .order = DigitOrder::fixed}};
  for (const World& world : worlds) {
    CAPTURE(world.scene.target);
    const auto [rows, cols] = world.scene.canvas;
    const Dataset digits = noise_digits(26, world.digit[0], world.digit[1], world.digit[2], 10);
    const Retina retina(world.retina, rows, cols, world.digit[2]);
    const auto make = [&, &w = world] {
      return std::make_unique<SearchEnvironment>(w.scene, w.augmentation, digits, w.order, retina,
                                                 1, w.episodes, w.rollouts);
    };
    check_environment(make, rows, cols);
    check_grid(make);
    check_canvases(make, rows, cols);
    check_cues(make, rows, cols);
    world.rollouts == 1 ? check_restarts(make) : check_no_restarts(make);
  }
}

TEST_CASE("digits_to_words satisfies the environment contract") {
  for (const Split split : {Split::train, Split::valid, Split::test})
    for (const int max_number : {99, 9999, kMaxNumber}) {
      CAPTURE(max_number);
      const auto make = [&] {
        return std::make_unique<WordsEnvironment>(max_number, split, 1, 8, 2);
      };
      const int rows = static_cast<int>(std::to_string(max_number).size());
      check_environment(make, rows, 10);
      check_canvases(make, rows, 10);
      check_no_restarts(make);
    }
}

World small_world(int episodes, int rollouts) {
  return {.scene = {.canvas = {20, 24}, .distractor_size = 4},
          .retina = {5, 2, 2},
          .digit = {8, 8, 1},
          .episodes = episodes,
          .rollouts = rollouts};
}

// The same places for all episodes.
GuardedMatrix same_locations(int episodes, std::uint32_t look) {
  const GuardedMatrix one = random_locations(1, look);
  GuardedMatrix locations(episodes, 2);
  for (int b = 0; b < episodes; ++b)
    for (int axis = 0; axis < 2; ++axis) locations(b, axis) = one(0, axis);
  return locations;
}

std::vector<float> glimpse_of(const GuardedMatrix& glimpses, int episode, int size) {
  const float* row = glimpses.view().row(episode);
  return {row, row + size};
}

TEST_CASE("episode b sees scene first_scene + b / rollouts, whatever the batch") {
  const World one = small_world(1, 1);
  const Dataset digits = digits_of(one);
  const auto single = build(one, digits);
  const int size = single->glimpse_size();
  for (const auto& [episodes, rollouts] : {std::array{6, 1}, {6, 2}, {6, 3}, {6, 6}}) {
    CAPTURE(rollouts);
    const auto batch = build(small_world(episodes, rollouts), digits);
    for (const std::uint64_t first_scene : {0ULL, 3ULL, 100ULL}) {
      batch->reset(first_scene);
      for (std::uint32_t t = 0; t < 3; ++t) {
        const GuardedMatrix seen = look_at(*batch, same_locations(episodes, t));
        for (int b = 0; b < episodes; ++b) {
          single->reset(first_scene + b / rollouts);
          CHECK(glimpse_of(look_at(*single, same_locations(1, t)), 0, size) ==
                glimpse_of(seen, b, size));
          CHECK(single->facts()[0].label == batch->facts()[b].label);
          CHECK(single->facts()[0].boxes == batch->facts()[b].boxes);
        }
      }
    }
  }
}

TEST_CASE("rollouts of one scene may look at different places") {
  const World world = small_world(4, 2);
  const Dataset digits = digits_of(world);
  const auto environment = build(world, digits);
  environment->reset(0);
  // One looks at the digit, the next at the corner farthest from it.
  GuardedMatrix locations(4, 2);
  for (int b = 0; b < 4; ++b) {
    const Region& digit = environment->facts()[b].regions[0];
    locations(b, 0) = b % 2 == 0 ? digit.x : std::copysign(1.0F, -digit.x);
    locations(b, 1) = b % 2 == 0 ? digit.y : std::copysign(1.0F, -digit.y);
  }
  const GuardedMatrix seen = look_at(*environment, locations);
  const int size = environment->glimpse_size();
  for (const int b : {0, 2}) CHECK(glimpse_of(seen, b, size) != glimpse_of(seen, b + 1, size));
  CHECK(environment->facts()[0].boxes == environment->facts()[1].boxes);
  CHECK(environment->facts()[1].boxes != environment->facts()[2].boxes);
}

TEST_CASE("a look at a digit's region sees that digit, pixel by pixel") {
  for (const int side : {8, 9}) {
    const World world{.scene = {.kind = "translated", .canvas = {30, 41}},
                      .retina = {side, 1, 2},
                      .digit = {side, side, 1},
                      .episodes = 20,
                      .order = DigitOrder::fixed};
    const Dataset digits = digits_of(world);
    const auto environment = build(world, digits);
    environment->reset(0);
    GuardedMatrix locations(world.episodes, 2);
    for (int b = 0; b < world.episodes; ++b) {
      locations(b, 0) = environment->facts()[b].regions[0].x;
      locations(b, 1) = environment->facts()[b].regions[0].y;
    }
    const GuardedMatrix seen = look_at(*environment, locations);
    for (int b = 0; b < world.episodes; ++b) {
      CHECK(environment->facts()[b].label == digits.labels(b % digits.size()));
      for (int i = 0; i < side * side; ++i)
        REQUIRE(seen(b, i) ==
                doctest::Approx(digits.images(b % digits.size(), i / side, i % side, 0) / 255.0));
    }
  }
}

TEST_CASE("a view is the canvas drawn by the scene maker, for every rollout") {
  for (const int channels : {1, 3})
    for (const int rollouts : {1, 2}) {
      CAPTURE(channels);
      CAPTURE(rollouts);
      World world = small_world(6, rollouts);
      world.digit[2] = channels;
      world.retina = {5, 3, 2};  // extends beyond the canvas
      const Dataset digits = digits_of(world);
      const SceneMaker scenes(world.scene, world.augmentation, digits, world.order, 1);
      const auto environment = build(world, digits);
      CHECK(environment->canvas().channels == channels);
      environment->reset(4);
      const GuardedMatrix canvases = view_of(*environment);
      for (int b = 0; b < world.episodes; ++b) {
        const Scene scene = draw(scenes, 4 + b / rollouts);
        REQUIRE(static_cast<int>(scene.canvas.size()) == environment->canvas().pixels());
        for (std::size_t i = 0; i < scene.canvas.size(); ++i)
          REQUIRE(canvases(b, static_cast<int>(i)) ==
                  doctest::Approx(scene.canvas[i] / 255.0).epsilon(1e-6));
      }
    }
}

// Has a label, but shows only black.
class BlindEnvironment final : public Environment {
 public:
  int episodes() const override { return 2; }
  int glimpse_size() const override { return 1; }
  int num_classes() const override { return 1; }
  std::span<const SceneFacts> facts() const override { return facts_; }

 private:
  void begin(std::uint64_t) override {}
  void observe(ConstMatrix, Matrix glimpses) override {
    for (int b = 0; b < glimpses.rows; ++b) glimpses(b, 0) = 0.0F;
  }

  std::array<SceneFacts, 2> facts_{};
};

TEST_CASE("an environment without a grid or a canvas reports it") {
  BlindEnvironment environment;
  CHECK(environment.canvas().pixels() == 0);
  environment.reset(0);
  CHECK_NOTHROW(look_at(environment, random_locations(2, 0)));
  CHECK(message_of<std::logic_error>([&] { look_at_all(environment, some_places()); }) ==
        "this environment cannot be looked at through a grid");
  CHECK(message_of<std::logic_error>([&] { view_of(environment); }) ==
        "this environment shows no canvas");
  CHECK(message_of<std::logic_error>([&] {
          act_all(environment, {0, 0});
        }) == "Environment::act: this environment takes another kind of answer");
}

#ifdef SACCADE_CHECKS
TEST_CASE("inconsistent sizes are refused") {
  const World world = small_world(4, 2);
  const Dataset digits = digits_of(world);
  const auto environment = build(world, digits);
  environment->reset(0);
  const int size = environment->glimpse_size();
  GuardedMatrix locations(4, 2), glimpses(4, size);
  locations.fill(0.0F);
  CHECK_NOTHROW(environment->look(locations.view(), glimpses.view()));
  GuardedMatrix three(3, 2), wide(4, 3), few(3, size), narrow(4, size - 1);
  three.fill(0.0F);
  wide.fill(0.0F);
  CHECK_THROWS_AS(environment->look(three.view(), glimpses.view()), std::logic_error);
  CHECK_THROWS_AS(environment->look(wide.view(), glimpses.view()), std::logic_error);
  CHECK_THROWS_AS(environment->look(locations.view(), few.view()), std::logic_error);
  CHECK_THROWS_AS(environment->look(locations.view(), narrow.view()), std::logic_error);
  const GuardedMatrix places = some_places();
  const int count = places.view().rows, pixels = environment->canvas().pixels();
  GuardedMatrix all(4 * count, size), some(4 * count - 1, size), canvases(4, pixels);
  GuardedMatrix few_canvases(3, pixels), narrow_canvases(4, pixels - 1);
  CHECK_NOTHROW(environment->look_at_all(places.view(), all.view()));
  CHECK_THROWS_AS(environment->look_at_all(wide.view(), all.view()), std::logic_error);
  CHECK_THROWS_AS(environment->look_at_all(places.view(), some.view()), std::logic_error);
  CHECK_NOTHROW(environment->view(canvases.view()));
  CHECK_THROWS_AS(environment->view(few_canvases.view()), std::logic_error);
  CHECK_THROWS_AS(environment->view(narrow_canvases.view()), std::logic_error);
  std::vector<float> rewards(4), short_rewards(3);
  CHECK_THROWS_AS(environment->answer(std::vector<int>(3), rewards), std::logic_error);
  CHECK_THROWS_AS(environment->answer(std::vector<int>(4), short_rewards), std::logic_error);
  CHECK_THROWS_AS(build(small_world(5, 2), digits), std::logic_error);
}
#endif

}  // namespace
}  // namespace saccade
