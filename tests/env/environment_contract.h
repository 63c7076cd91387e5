#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "env/environment.h"
#include "tests/env/answer_contract.h"
#include "tests/env/environment_calls.h"
#include "tests/env/restart_contract.h"

// The contract of Environment, checked for every implementation:
//
//     check_environment([&] { return std::make_unique<MyEnvironment>(...); }, rows, cols);
//
// `make` returns a new environment that has not been reset, always with the same settings; its
// scenes must not all be alike. rows and cols are the canvas in pixels. Checks what applies:
// glimpses, and a class, a sequence or actions as the answer. In addition, environments with a
// glimpse grid must pass check_grid, those that show their canvas check_canvases, those whose
// episodes can be restarted individually check_restarts, and all others check_no_restarts; those
// with a cue check_cues.
namespace saccade {

// Calls for other kinds of answer are refused, and do not end the episode.
inline void check_other_answers(Environment& environment) {
  const AnswerKind kind = environment.answer_kind();
  const int episodes = environment.episodes();
  const std::vector<int> one_each(episodes);
  const std::vector<int> sequences(episodes * environment.max_symbols());
  std::vector<float> rewards(episodes);
  if (kind != AnswerKind::one_class)
    CHECK_THROWS_AS(environment.answer(one_each, rewards), std::logic_error);
  if (kind != AnswerKind::sequence)
    CHECK_THROWS_AS(environment.answer_sequence(sequences, rewards), std::logic_error);
  if (kind != AnswerKind::actions)
    CHECK_THROWS_AS(environment.act(one_each, rewards), std::logic_error);
}

inline void check_order_of_calls(const MakeEnvironment& make) {
  const auto environment = make();
  const bool ends = environment->answer_kind() != AnswerKind::actions;
  const auto see = [&] { observe(*environment, 0); };
  const auto answer = [&] { answer_somehow(*environment); };

  CHECK_THROWS_AS(see(), std::logic_error);
  CHECK_THROWS_AS(answer(), std::logic_error);
  for (int round = 0; round < 2; ++round) {
    environment->reset(0);
    for (int t = 0; t < 3; ++t) CHECK_NOTHROW(see());
    check_other_answers(*environment);
    if (!environment->has_cue()) CHECK_THROWS_AS(environment->end_cue(), std::logic_error);
    CHECK_NOTHROW(answer());
    if (ends) {
      CHECK_THROWS_AS(see(), std::logic_error);
      CHECK_THROWS_AS(answer(), std::logic_error);
    } else {
      CHECK_NOTHROW(see());
      CHECK_NOTHROW(answer());
    }
  }
  environment->reset(0);
  CHECK_NOTHROW(answer());  // without any look
  environment->reset(0);
  environment->reset(0);  // without an answer
  CHECK_NOTHROW(see());
}

inline void check_locations(const MakeEnvironment& make) {
  const auto environment = make();
  environment->reset(0);
  const int episodes = environment->episodes();
  const GuardedMatrix before = look_at(*environment, random_locations(*environment, 0));
  for (const float bad : {std::nextafter(1.0F, 2.0F), -std::nextafter(1.0F, 2.0F), 100.0F, kInf,
                          -kInf, std::numeric_limits<float>::quiet_NaN()})
    for (const int b : {0, episodes - 1})
      for (const int axis : {0, 1}) {
        GuardedMatrix locations = random_locations(*environment, 0);
        locations(b, axis) = bad;
        CHECK_THROWS_AS(look_at(*environment, locations), std::out_of_range);
      }
  // A refused look does not count: the episodes continue.
  CHECK(look_at(*environment, random_locations(*environment, 0)) == before);
  for (const float x : {-1.0F, 0.0F, 1.0F})
    for (const float y : {-1.0F, 0.0F, 1.0F}) {
      GuardedMatrix locations(episodes, environment->location_size());
      locations.fill(x);
      for (int b = 0; b < episodes; ++b) {
        locations(b, 0) = x;
        locations(b, 1) = y;
      }
      CHECK_NOTHROW(look_at(*environment, locations));
    }
}

inline void check_pixels(const GuardedMatrix& pixels) {
  const ConstMatrix all = pixels.view();
  for (int r = 0; r < all.rows; ++r)
    for (int c = 0; c < all.cols; ++c) REQUIRE((all(r, c) >= 0.0F && all(r, c) <= 1.0F));
}

inline void check_glimpses(const MakeEnvironment& make) {
  const auto environment = make();
  environment->reset(5);
  for (std::uint32_t t = 0; t < 8; ++t) {
    check_pixels(look_at(*environment, random_locations(*environment, t)));
  }
}

inline void check_facts_now(const Environment& environment, int canvas_rows, int canvas_cols) {
  REQUIRE(environment.facts().size() == static_cast<std::size_t>(environment.episodes()));
  for (const SceneFacts& facts : environment.facts()) {
    CHECK(facts.label >= 0);
    CHECK(facts.label < environment.num_classes());
    REQUIRE(facts.num_digits >= 1);
    REQUIRE(facts.num_digits <= kMaxDigits);
    CHECK(facts.length >= 0);
    for (int k = facts.num_digits; k < kMaxDigits; ++k) CHECK_FALSE(facts.is_answer[k]);
    CHECK(std::ranges::count(facts.is_answer, true) > 0);
    CHECK((facts.num_symbols > 0) == (environment.answer_kind() == AnswerKind::sequence));
    for (int k = 0; k < facts.num_digits; ++k) {
      CHECK(facts.classes[k] >= 0);
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

inline void check_facts(const MakeEnvironment& make, int canvas_rows, int canvas_cols) {
  const auto environment = make();
  for (const std::uint64_t first_scene : {0ULL, 1000ULL, 1ULL << 33}) {
    environment->reset(first_scene);
    check_facts_now(*environment, canvas_rows, canvas_cols);
  }
}

inline void check_repeatable(const MakeEnvironment& make) {
  const auto environment = make(), twin = make();
  const auto episode = [&](Environment& world, std::uint64_t first_scene) {
    world.reset(first_scene);
    std::vector<GuardedMatrix> seen;
    for (std::uint32_t t = 0; t < 3; ++t) seen.push_back(observe(world, t));
    return seen;
  };
  const auto first = episode(*environment, 0);
  const std::vector<float> facts = facts_of(*environment);
  const auto other = episode(*environment, 1000003);
  CHECK(first != other);
  CHECK(episode(*environment, 0) == first);
  CHECK(facts_of(*environment) == facts);
  answer_somehow(*environment);
  CHECK(episode(*environment, 1000003) == other);
  CHECK(episode(*twin, 0) == first);  // environments do not share state
  CHECK(facts_of(*twin) == facts);
  CHECK(episode(*environment, 1000003) == other);

  // Looks do not change the scene, so their order does not matter.
  twin->reset(0);
  for (const std::uint32_t t : {2U, 0U, 1U, 2U}) CHECK(observe(*twin, t) == first[t]);
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
  if (environment->answer_kind() == AnswerKind::actions) return;
  answer_somehow(*environment);
  CHECK_THROWS_AS(look_at_all(*environment, places), std::logic_error);
}

inline void check_smooth_looks(const MakeEnvironment& make) {
  const auto environment = make();
  const int episodes = environment->episodes();
  const GuardedMatrix locations = random_locations(*environment, 0);
  CHECK_THROWS_AS(look_smoothly(*environment, locations), std::logic_error);
  environment->reset(5);
  const GuardedMatrix before = look_smoothly(*environment, locations);
  check_pixels(before);
  bool between = false;  // pixels
  const GuardedMatrix rounded = look_at(*environment, locations);
  for (int b = 0; b < episodes; ++b)
    for (int i = 0; i < environment->glimpse_size(); ++i)
      between = between || before(b, i) != rounded(b, i);
  CHECK(between == (environment->location_size() == 2));  // a look with a zoom never rounds
  for (const float bad :
       {std::nextafter(1.0F, 2.0F), -100.0F, std::numeric_limits<float>::quiet_NaN()})
    for (const int axis : {0, 1}) {
      GuardedMatrix outside = locations;
      outside(episodes - 1, axis) = bad;
      CHECK_THROWS_AS(look_smoothly(*environment, outside), std::out_of_range);
    }
  CHECK(look_smoothly(*environment, locations) == before);  // looks do not change the scene
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
  check_pixels(canvases);
  observe(*environment, 0);
  CHECK(view_of(*environment) == canvases);
  if (environment->answer_kind() != AnswerKind::actions) {
    answer_somehow(*environment);
    CHECK_THROWS_AS(view_of(*environment), std::logic_error);
  }
  environment->reset(1000003);
  CHECK_FALSE(view_of(*environment) == canvases);
  environment->reset(2);
  CHECK(view_of(*environment) == canvases);
}

/// The cue is seen until it ends, by all looks; then the scene is, with the same label and sources.
inline void check_cues(const MakeEnvironment& make, int canvas_rows, int canvas_cols) {
  const auto environment = make(), twin = make();
  REQUIRE(environment->has_cue());
  CHECK(environment->moves());
  CHECK_THROWS_AS(environment->end_cue(), std::logic_error);
  CHECK_THROWS_AS(environment->end_cue(0), std::logic_error);
  environment->reset(3);
  const std::vector<float> cue = facts_of(*environment);
  const std::vector<int> labels = labels_of(*environment);
  const GuardedMatrix cue_canvases = view_of(*environment), cue_look = observe(*environment, 0);
  environment->end_cue();
  const std::vector<float> scene = facts_of(*environment);
  const GuardedMatrix canvases = view_of(*environment), look = observe(*environment, 0);
  CHECK(scene != cue);
  CHECK(labels_of(*environment) == labels);
  CHECK_FALSE(canvases == cue_canvases);
  CHECK_FALSE(look == cue_look);
  check_pixels(look);
  check_facts_now(*environment, canvas_rows, canvas_cols);
  environment->end_cue();  // again
  CHECK(facts_of(*environment) == scene);
  CHECK(view_of(*environment) == canvases);

  // Nothing depends on how often it was looked at or what was shown before.
  twin->reset(1000003);
  twin->end_cue();
  twin->reset(3);
  CHECK(view_of(*twin) == cue_canvases);
  CHECK(facts_of(*twin) == cue);
  twin->end_cue();
  CHECK(view_of(*twin) == canvases);
  CHECK(facts_of(*twin) == scene);
  answer_somehow(*twin);
  CHECK_THROWS_AS(twin->end_cue(), std::logic_error);
  environment->reset(3);
  CHECK(view_of(*environment) == cue_canvases);
}

inline void check_environment(const MakeEnvironment& make, int canvas_rows, int canvas_cols) {
  REQUIRE(make()->episodes() > 0);
  REQUIRE(make()->num_classes() > 0);
  check_order_of_calls(make);
  check_facts(make, canvas_rows, canvas_cols);
  check_repeatable(make);
  if (make()->glimpse_size() > 0) {
    check_locations(make);
    check_glimpses(make);
    check_smooth_looks(make);
    check_single_looks(make);
  } else {
    const auto environment = make();
    environment->reset(0);
    CHECK_THROWS_AS(look_at(*environment, random_locations(*environment, 0)), std::logic_error);
    REQUIRE(environment->canvas().pixels() > 0);
  }
  switch (make()->answer_kind()) {
    case AnswerKind::one_class:
      check_rewards(make);
      check_judgements(make);
      break;
    case AnswerKind::sequence:
      check_sequences(make);
      check_judgements(make);
      break;
    case AnswerKind::actions:
      check_actions(make);
      break;
  }
}

}  // namespace saccade
