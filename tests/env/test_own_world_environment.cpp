#include "env/own_world_environment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "nn/layers.h"
#include "tests/check_contains.h"
#include "tests/env/environment_calls.h"
#include "tests/env/environment_contract.h"
#include "tests/env/own_worlds.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr OwnWorldSpec kWaves{.glimpse_size = 5, .num_classes = 3};
constexpr OwnWorldSpec kGame{
    .glimpse_size = 5, .num_classes = 3, .answer = AnswerKind::actions, .best_return = 4.0F};
constexpr float kNotFinite = std::numeric_limits<float>::quiet_NaN();

// A world that does what the test says. Its glimpses are the locations.
struct AnyWorld final : OwnWorld {
  void reset(std::span<const std::int64_t> scenes, std::span<int> labels) override {
    on_reset(scenes, labels);
  }
  void look(Matrix locations, Matrix glimpses, std::span<int> labels) override {
    copy_rows(glimpses, locations);
    on_look(locations, glimpses, labels);
  }
  void act(std::span<const int>, std::span<float> rewards) override { on_act(rewards); }

  std::function<void(std::span<const std::int64_t>, std::span<int>)> on_reset =
      [](auto, std::span<int> labels) { std::ranges::fill(labels, 0); };
  std::function<void(Matrix, Matrix, std::span<int>)> on_look = [](auto, auto, auto) {};
  std::function<void(std::span<float>)> on_act = [](std::span<float> rewards) {
    std::ranges::fill(rewards, 0.0F);
  };
};

// Of two episodes.
std::unique_ptr<OwnWorldEnvironment> environment_of(const AnyWorld& world,
                                                    AnswerKind answer = AnswerKind::one_class) {
  return std::make_unique<OwnWorldEnvironment>(
      [&](int) { return std::make_unique<AnyWorld>(world); },
      OwnWorldSpec{.glimpse_size = 2, .num_classes = 3, .answer = answer}, Split::train, 2, 1);
}

}  // namespace

TEST_CASE("own worlds satisfy the environment contract, but for facts about digits") {
  for (const OwnWorldSpec& spec : {kWaves, kGame})
    for (const int rollouts : {1, 3}) {
      CAPTURE(rollouts);
      const MakeEnvironment make = [&] {
        return std::make_unique<OwnWorldEnvironment>(wave_worlds(3), spec, Split::train, 6,
                                                     rollouts);
      };
      check_order_of_calls(make);
      check_locations(make);
      check_glimpses(make);
      check_repeatable(make);
      check_no_restarts(make);
      check_other_answers(*make());
      CHECK(make()->canvas() == CanvasSize());
      CHECK(make()->best_return(9) == spec.best_return);
    }
}

TEST_CASE("own worlds: every split has its own scenes, and rollouts share one") {
  for (const auto& [split, first] :
       {std::pair{Split::train, std::int64_t{0}}, std::pair{Split::valid, std::int64_t{1} << 61},
        std::pair{Split::test, std::int64_t{1} << 62}}) {
    std::vector<std::int64_t> asked;
    AnyWorld world;
    world.on_reset = [&](auto scenes, std::span<int> labels) {
      asked.assign(scenes.begin(), scenes.end());
      std::ranges::fill(labels, 1);
    };
    const OwnWorldMaker make = [&](int) { return std::make_unique<AnyWorld>(world); };
    OwnWorldEnvironment environment(make, kWaves, split, 4, 2);
    environment.reset(70);
    CHECK(own_scene_number(split, 70) == static_cast<std::uint64_t>(first + 70));
    CHECK(asked == std::vector{first + 70, first + 70, first + 71, first + 71});
    CHECK(labels_of(environment) == std::vector{1, 1, 1, 1});
  }
}

TEST_CASE("own worlds: a look may go elsewhere, and a class be known only then") {
  AnyWorld world;
  world.on_reset = [](auto, auto) {};
  world.on_look = [](Matrix locations, Matrix, std::span<int> labels) {
    locations(1, 0) = 0.25F;
    labels[0] = 2;
  };
  const auto environment = environment_of(world);
  environment->reset(0);
  CHECK(labels_of(*environment) == std::vector{-1, -1});
  const GuardedMatrix asked = random_locations(*environment, 0);
  look_at(*environment, asked);
  GuardedMatrix places = asked;
  environment->find_places(places.view());
  CHECK(places(1, 0) == 0.25F);
  CHECK(places(1, 1) == asked(1, 1));
  CHECK(places(0, 0) == asked(0, 0));
  CHECK(labels_of(*environment) == std::vector{2, -1});
  // No slopes, but the same glimpses.
  CHECK(look_smoothly(*environment, asked) == look_at(*environment, asked));
}

TEST_CASE("own worlds: what fails or is not allowed is named with its scenes") {
  const auto look_fault = [](const std::function<void(Matrix, Matrix, std::span<int>)>& on_look) {
    AnyWorld world;
    world.on_look = on_look;
    const auto environment = environment_of(world);
    environment->reset(40);
    return message_of<OwnPartError>(
        [&] { look_at(*environment, random_locations(*environment, 0)); });
  };
  CHECK(look_fault([](auto, auto, auto) { throw std::runtime_error("no light"); }) ==
        "look() of scenes 40 to 41: no light");
  CHECK(look_fault([](auto, Matrix glimpses, auto) { glimpses(1, 0) = kNotFinite; }) ==
        "look() of scenes 40 to 41: glimpses: nan in row 1; allowed: finite numbers");
  for (const float outside : {1.5F, kNotFinite})
    check_contains(look_fault([&](Matrix locations, auto, auto) { locations(0, 1) = outside; }),
                   {"locations: ", "; allowed: -1 to 1"});
  CHECK(look_fault([](auto, auto, std::span<int> labels) { labels[1] = 3; }) ==
        "look() of scenes 40 to 41: label 3 of scene 41; allowed: 0 to 2");

  AnyWorld world;
  world.on_reset = [](auto, std::span<int> labels) { labels[0] = -2; };
  check_contains(message_of<OwnPartError>([&] { environment_of(world)->reset(1); }),
                 {"reset() of scenes 1 to 2: label -2 of scene 1"});
  world.on_reset = [](auto, auto) {};
  world.on_act = [](std::span<float> rewards) { std::ranges::fill(rewards, kNotFinite); };
  const auto game = environment_of(world, AnswerKind::actions);
  game->reset(0);
  CHECK(message_of<OwnPartError>([&] {
          act_all(*game, {0, 1});
        }) == "act() of scenes 0 to 1: rewards: nan in row 0; allowed: finite numbers");
  const OwnWorldMaker full = [](int) -> std::unique_ptr<OwnWorld> {
    throw std::runtime_error("full");
  };
  CHECK(message_of<OwnPartError>([&] { OwnWorldEnvironment(full, kWaves, Split::train, 2, 1); }) ==
        "a world of 2 episodes: full");
}

}  // namespace saccade
