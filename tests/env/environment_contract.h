#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "env/environment.h"
#include "nn/random.h"
#include "tests/guarded_matrix.h"

// The contract of Environment, which every implementation is put through:
//
//     check_environment([&] { return std::make_unique<MyEnvironment>(...); }, rows, cols);
//
// `make` gives a new environment that was not reset yet, each time of the same settings; its scenes
// are not all alike. rows and cols are the canvas, in pixels. An environment that can be looked at
// through a grid keeps check_grid as well, one that shows its canvas check_canvases.
namespace saccade {

using MakeEnvironment = std::function<std::unique_ptr<Environment>()>;

/// Locations (B, 2) uniform in [-1, 1].
inline GuardedMatrix random_locations(int episodes, std::uint32_t look) {
  GuardedMatrix locations(episodes, 2);
  for (int b = 0; b < episodes; ++b) {
    RandomStream stream(1, Purpose::policy_noise, look, static_cast<std::uint32_t>(b));
    for (int axis = 0; axis < 2; ++axis) locations(b, axis) = stream.uniform(-1.0F, 1.0F);
  }
  return locations;
}

/// K places that are the same in every episode, the corners and the centre among them: (K, 2).
inline GuardedMatrix some_places() {
  constexpr float kPlaces[][2] = {{0.0F, 0.0F},  {-1.0F, -1.0F}, {1.0F, 1.0F},   {1.0F, -1.0F},
                                  {-1.0F, 1.0F}, {0.31F, -0.7F}, {-0.05F, 0.43F}};
  GuardedMatrix places(static_cast<int>(std::size(kPlaces)), 2);
  for (int k = 0; k < places.view().rows; ++k)
    for (int axis = 0; axis < 2; ++axis) places(k, axis) = kPlaces[k][axis];
  return places;
}

/// Glimpses (B, D), each number written, none beside them.
inline GuardedMatrix look_at(Environment& environment, const GuardedMatrix& locations) {
  GuardedMatrix glimpses(environment.episodes(), environment.glimpse_size());
  glimpses.fill(std::numeric_limits<float>::quiet_NaN());
  environment.look(locations.view(), glimpses.view());
  CHECK(glimpses.intact());
  return glimpses;
}

/// Glimpses (B K, D) at places (K, 2), each number written, none beside them.
inline GuardedMatrix look_at_all(Environment& environment, const GuardedMatrix& places) {
  GuardedMatrix glimpses(environment.episodes() * places.view().rows, environment.glimpse_size());
  glimpses.fill(std::numeric_limits<float>::quiet_NaN());
  environment.look_at_all(places.view(), glimpses.view());
  CHECK(glimpses.intact());
  return glimpses;
}

/// The canvases (B, channels * rows * cols), each number written, none beside them.
inline GuardedMatrix view_of(Environment& environment) {
  GuardedMatrix canvases(environment.episodes(), environment.canvas().pixels());
  canvases.fill(std::numeric_limits<float>::quiet_NaN());
  environment.view(canvases.view());
  CHECK(canvases.intact());
  return canvases;
}

inline std::vector<float> answer_all(Environment& environment, const std::vector<int>& classes) {
  std::vector<float> memory(classes.size() + 2, -7.0F);
  environment.answer(classes, std::span(memory).subspan(1, classes.size()));
  CHECK(memory.front() == -7.0F);
  CHECK(memory.back() == -7.0F);
  return {memory.begin() + 1, memory.end() - 1};
}

inline std::vector<int> labels_of(const Environment& environment) {
  std::vector<int> labels;
  for (const SceneFacts& facts : environment.facts()) labels.push_back(facts.label);
  return labels;
}

inline void check_order_of_calls(const MakeEnvironment& make) {
  const auto environment = make();
  const int episodes = environment->episodes();
  const GuardedMatrix locations = random_locations(episodes, 0);
  const std::vector<int> classes(episodes);
  std::vector<float> rewards(episodes);
  GuardedMatrix glimpses(episodes, environment->glimpse_size());
  const auto look = [&] { environment->look(locations.view(), glimpses.view()); };
  const auto answer = [&] { environment->answer(classes, rewards); };

  CHECK_THROWS_AS(look(), std::logic_error);
  CHECK_THROWS_AS(answer(), std::logic_error);
  for (int round = 0; round < 2; ++round) {
    environment->reset(0);
    for (int t = 0; t < 3; ++t) CHECK_NOTHROW(look());
    CHECK_NOTHROW(answer());
    CHECK_THROWS_AS(look(), std::logic_error);
    CHECK_THROWS_AS(answer(), std::logic_error);
  }
  environment->reset(0);
  CHECK_NOTHROW(answer());  // without a look
  environment->reset(0);
  environment->reset(0);  // without an answer
  CHECK_NOTHROW(look());
}

inline void check_locations(const MakeEnvironment& make) {
  const auto environment = make();
  environment->reset(0);
  const int episodes = environment->episodes();
  const GuardedMatrix before = look_at(*environment, random_locations(episodes, 0));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nextafter(1.0F, 2.0F), -std::nextafter(1.0F, 2.0F), 100.0F, kInf,
                          -kInf, std::numeric_limits<float>::quiet_NaN()})
    for (const int b : {0, episodes - 1})
      for (const int axis : {0, 1}) {
        GuardedMatrix locations = random_locations(episodes, 0);
        locations(b, axis) = bad;
        CHECK_THROWS_AS(look_at(*environment, locations), std::out_of_range);
      }
  // A refused look is no look: the episodes go on.
  CHECK(look_at(*environment, random_locations(episodes, 0)) == before);
  for (const float x : {-1.0F, 0.0F, 1.0F})
    for (const float y : {-1.0F, 0.0F, 1.0F}) {
      GuardedMatrix locations(episodes, 2);
      for (int b = 0; b < episodes; ++b) {
        locations(b, 0) = x;
        locations(b, 1) = y;
      }
      CHECK_NOTHROW(look_at(*environment, locations));
    }
}

inline void check_glimpses(const MakeEnvironment& make) {
  const auto environment = make();
  environment->reset(5);
  for (std::uint32_t t = 0; t < 8; ++t) {
    const GuardedMatrix glimpses =
        look_at(*environment, random_locations(environment->episodes(), t));
    for (int b = 0; b < environment->episodes(); ++b)
      for (int i = 0; i < environment->glimpse_size(); ++i) {
        REQUIRE(glimpses(b, i) >= 0.0F);  // false for what is no number
        REQUIRE(glimpses(b, i) <= 1.0F);
      }
  }
}

inline void check_facts(const MakeEnvironment& make, int canvas_rows, int canvas_cols) {
  const auto environment = make();
  for (const std::uint64_t first_scene : {0ULL, 1000ULL, 1ULL << 33}) {
    environment->reset(first_scene);
    REQUIRE(environment->facts().size() == static_cast<std::size_t>(environment->episodes()));
    for (const SceneFacts& facts : environment->facts()) {
      CHECK(facts.label >= 0);
      CHECK(facts.label < environment->num_classes());
      REQUIRE(facts.num_digits >= 1);
      REQUIRE(facts.num_digits <= kMaxDigits);
      for (int k = 0; k < facts.num_digits; ++k) {
        const Box& box = facts.boxes[k];
        CHECK(box.width > 0);
        CHECK(box.height > 0);
        CHECK(box.x >= 0);
        CHECK(box.y >= 0);
        CHECK(box.x + box.width <= canvas_cols);
        CHECK(box.y + box.height <= canvas_rows);
        const Region& region = facts.regions[k];
        CHECK(std::abs(region.x) <= 1.0F);
        CHECK(std::abs(region.y) <= 1.0F);
        CHECK(region.half_width == doctest::Approx(1.0 * box.width / canvas_cols));
        CHECK(region.half_height == doctest::Approx(1.0 * box.height / canvas_rows));
      }
    }
  }
}

inline void check_rewards(const MakeEnvironment& make) {
  const auto environment = make();
  const int classes = environment->num_classes();
  for (int guess = -1; guess <= classes; ++guess) {
    environment->reset(3);
    const std::vector<int> labels = labels_of(*environment);
    const std::vector<float> rewards =
        answer_all(*environment, std::vector<int>(labels.size(), guess));
    for (std::size_t b = 0; b < labels.size(); ++b)
      CHECK(rewards[b] == (guess == labels[b] ? 1.0F : 0.0F));
    CHECK(labels_of(*environment) == labels);  // the facts stay
  }
  environment->reset(3);
  const std::vector<int> labels = labels_of(*environment);
  CHECK(answer_all(*environment, labels) == std::vector<float>(labels.size(), 1.0F));
}

inline void check_repeatable(const MakeEnvironment& make) {
  const auto environment = make(), twin = make();
  const int episodes = environment->episodes();
  const auto episode = [&](Environment& world, std::uint64_t first_scene) {
    world.reset(first_scene);
    std::vector<GuardedMatrix> glimpses;
    for (std::uint32_t t = 0; t < 3; ++t)
      glimpses.push_back(look_at(world, random_locations(episodes, t)));
    return glimpses;
  };
  const auto first = episode(*environment, 0);
  const std::vector<int> labels = labels_of(*environment);
  const auto other = episode(*environment, 1000000);
  CHECK(first != other);
  CHECK(episode(*environment, 0) == first);
  CHECK(labels_of(*environment) == labels);
  answer_all(*environment, labels);
  CHECK(episode(*environment, 1000000) == other);
  CHECK(episode(*twin, 0) == first);  // environments do not share state
  CHECK(labels_of(*twin) == labels);
  CHECK(episode(*environment, 1000000) == other);

  // Looks do not change the scene: their order does not matter.
  twin->reset(0);
  for (const std::uint32_t t : {2U, 0U, 1U, 2U})
    CHECK(look_at(*twin, random_locations(episodes, t)) == first[t]);
}

inline void check_grid(const MakeEnvironment& make) {
  const auto environment = make();
  const int episodes = environment->episodes();
  const GuardedMatrix places = some_places();
  const int count = places.view().rows;
  CHECK_THROWS_AS(look_at_all(*environment, places), std::logic_error);
  environment->reset(2);
  const GuardedMatrix all = look_at_all(*environment, places);
  for (int k = 0; k < count; ++k) {
    GuardedMatrix locations(episodes, 2);
    for (int b = 0; b < episodes; ++b)
      for (int axis = 0; axis < 2; ++axis) locations(b, axis) = places(k, axis);
    const GuardedMatrix glimpses = look_at(*environment, locations);
    for (int b = 0; b < episodes; ++b)
      for (int i = 0; i < environment->glimpse_size(); ++i)
        REQUIRE(all(b * count + k, i) == glimpses(b, i));
  }

  for (const float bad :
       {std::nextafter(1.0F, 2.0F), -100.0F, std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()})
    for (const int k : {0, count - 1})
      for (const int axis : {0, 1}) {
        GuardedMatrix outside = places;
        outside(k, axis) = bad;
        CHECK_THROWS_AS(look_at_all(*environment, outside), std::out_of_range);
      }
  CHECK(look_at_all(*environment, places) == all);  // looks do not change the scene
  answer_all(*environment, labels_of(*environment));
  CHECK_THROWS_AS(look_at_all(*environment, places), std::logic_error);
}

inline void check_canvases(const MakeEnvironment& make, int canvas_rows, int canvas_cols) {
  const auto environment = make();
  const CanvasSize canvas = environment->canvas();
  CHECK(canvas.rows == canvas_rows);
  CHECK(canvas.cols == canvas_cols);
  CHECK(canvas.channels > 0);
  CHECK_THROWS_AS(view_of(*environment), std::logic_error);
  environment->reset(2);
  const GuardedMatrix canvases = view_of(*environment);
  for (int b = 0; b < environment->episodes(); ++b)
    for (int i = 0; i < canvas.pixels(); ++i) {
      REQUIRE(canvases(b, i) >= 0.0F);  // false for what is no number
      REQUIRE(canvases(b, i) <= 1.0F);
    }
  look_at(*environment, random_locations(environment->episodes(), 0));
  CHECK(view_of(*environment) == canvases);
  answer_all(*environment, labels_of(*environment));
  CHECK_THROWS_AS(view_of(*environment), std::logic_error);
  environment->reset(1000000);
  CHECK_FALSE(view_of(*environment) == canvases);
  environment->reset(2);
  CHECK(view_of(*environment) == canvases);
}

inline void check_environment(const MakeEnvironment& make, int canvas_rows, int canvas_cols) {
  REQUIRE(make()->episodes() > 0);
  REQUIRE(make()->glimpse_size() > 0);
  REQUIRE(make()->num_classes() > 0);
  check_order_of_calls(make);
  check_locations(make);
  check_glimpses(make);
  check_facts(make, canvas_rows, canvas_cols);
  check_rewards(make);
  check_repeatable(make);
}

}  // namespace saccade
