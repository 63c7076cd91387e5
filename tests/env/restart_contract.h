#pragma once

#include <doctest/doctest.h>

#include <array>

#include <limits>
#include <stdexcept>
#include <vector>

#include "env/environment.h"
#include "tests/env/environment_calls.h"

// The part of the environment contract (environment_contract.h) about episodes that are started,
// observed and judged individually.
namespace saccade {

/// The observation of one episode in look t: a row of observe().
inline std::vector<float> observe_one(Environment& environment, int episode, std::uint32_t t) {
  const GuardedMatrix all = observe(environment, t);
  const float* row = all.view().row(episode);
  return {row, row + all.view().cols};
}

/// Looks at a single episode return what looks at all of them return there.
inline void check_single_looks(const MakeEnvironment& make) {
  const auto environment = make();
  const int episodes = environment->episodes(), size = environment->glimpse_size();
  const GuardedMatrix locations = random_locations(*environment, 0);
  GuardedMatrix glimpses(episodes, size);
  const auto look = [&](int b, const float* location) {
    environment->look(b, location, {glimpses.view().row(b), static_cast<std::size_t>(size)});
  };
  std::array<float, 3> centre = {};
  CHECK_THROWS_AS(look(0, centre.data()), std::logic_error);
  environment->reset(5);
  const GuardedMatrix all = look_at(*environment, locations);
  glimpses.fill(std::numeric_limits<float>::quiet_NaN());
  for (int b = episodes - 1; b >= 0; --b) look(b, locations.view().row(b));
  CHECK(glimpses == all);
  for (const float bad : {1.1F, -1.1F, std::numeric_limits<float>::quiet_NaN()}) {
    for (int axis = 0; axis < environment->location_size(); ++axis) {
      std::array<float, 3> outside = {};
      outside[axis] = bad;
      CHECK_THROWS_AS(look(0, outside.data()), std::out_of_range);
    }
  }
  CHECK(glimpses == all);
}

/// judge() of a class or a sequence equals the reward it earns; checked with the right answer of
/// every episode.
inline void check_judgements(const MakeEnvironment& make) {
  const auto environment = make();
  environment->reset(3);
  const int episodes = environment->episodes();
  const bool sequence = environment->answer_kind() == AnswerKind::sequence;
  const int size = sequence ? environment->max_symbols() : 1;
  for (int other = 0; other < episodes; ++other) {
    environment->reset(3);
    const SceneFacts& wanted = environment->facts()[other];
    std::vector<int> answer(size, wanted.label);
    if (sequence) std::copy_n(wanted.symbols.begin(), size, answer.begin());
    std::vector<float> judged, answers;
    std::vector<int> all;
    for (int b = 0; b < episodes; ++b) {
      judged.push_back(environment->judge(b, answer));
      all.insert(all.end(), answer.begin(), answer.end());
    }
    CHECK(judged[other] == 1.0F);
    CHECK((sequence ? say_all(*environment, all) : answer_all(*environment, all)) == judged);
  }
}

/// A restarted episode shows what a new environment shows of that scene; the others continue.
inline void check_restarts(const MakeEnvironment& make) {
  const auto environment = make(), twin = make(), fresh = make();
  const int episodes = environment->episodes(), last = episodes - 1;
  CHECK_THROWS_AS(environment->restart(0, 0), std::logic_error);
  environment->reset(3);
  twin->reset(3);
  for (const std::uint64_t scene : {1000003ULL, (7ULL << 32) + 1}) {
    environment->restart(last, scene);
    fresh->reset(scene);
    for (std::uint32_t t = 0; t < 3; ++t) {
      // The first episode of `fresh`, with the look of the last one of the others.
      const GuardedMatrix locations = random_locations(*environment, t);
      std::vector<float> seen(environment->glimpse_size());
      fresh->look(0, locations.view().row(last), seen);
      CHECK(observe_one(*environment, last, t) == seen);
      for (int b = 0; b < last; ++b)
        CHECK(observe_one(*environment, b, t) == observe_one(*twin, b, t));
    }
    CHECK(environment->facts()[last].boxes == fresh->facts()[0].boxes);
    CHECK(environment->facts()[last].label == fresh->facts()[0].label);
    if (environment->has_cue()) {
      environment->end_cue(last);
      fresh->end_cue();
      CHECK(environment->facts()[last].boxes == fresh->facts()[0].boxes);
      for (int b = 0; b < last; ++b) CHECK(environment->facts()[b].boxes == twin->facts()[b].boxes);
    }
    if (environment->answer_kind() != AnswerKind::actions) continue;
    const std::vector<int> stay(episodes, 0);  // and it advances with the others
    act_all(*environment, stay);
    act_all(*twin, stay);
    act_all(*fresh, stay);
    CHECK(environment->facts()[last].boxes == fresh->facts()[0].boxes);
    for (int b = 0; b < last; ++b) CHECK(environment->facts()[b].boxes == twin->facts()[b].boxes);
  }
}

/// Environments whose episodes share scenes, or start together, refuse a restart and stay
/// unchanged.
inline void check_no_restarts(const MakeEnvironment& make) {
  const auto environment = make();
  environment->reset(3);
  const GuardedMatrix before = observe(*environment, 0);
  CHECK_THROWS_AS(environment->restart(0, 1000), std::logic_error);
  CHECK(observe(*environment, 0) == before);
}

}  // namespace saccade
