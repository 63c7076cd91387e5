#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "env/environment.h"
#include "nn/random.h"
#include "tests/guarded_matrix.h"

// Calls of environments that check where they write.
namespace saccade {

using MakeEnvironment = std::function<std::unique_ptr<Environment>()>;

/// Locations (B, 2) uniform in [-1, 1].
inline GuardedMatrix random_locations(int episodes, std::uint32_t look, int size = 2) {
  GuardedMatrix locations(episodes, size);
  for (int b = 0; b < episodes; ++b) {
    RandomStream stream(1, Purpose::policy_noise, look, static_cast<std::uint32_t>(b));
    for (int axis = 0; axis < size; ++axis) locations(b, axis) = stream.uniform(-1.0F, 1.0F);
  }
  return locations;
}
inline GuardedMatrix random_locations(const Environment& environment, std::uint32_t look) {
  return random_locations(environment.episodes(), look, environment.location_size());
}

/// K places shared by all episodes, including the corners and the centre: (K, 2).
inline GuardedMatrix some_places() {
  constexpr float kPlaces[][2] = {{0.0F, 0.0F},  {-1.0F, -1.0F}, {1.0F, 1.0F},   {1.0F, -1.0F},
                                  {-1.0F, 1.0F}, {0.31F, -0.7F}, {-0.05F, 0.43F}};
  GuardedMatrix places(static_cast<int>(std::size(kPlaces)), 2);
  for (int k = 0; k < places.view().rows; ++k)
    for (int axis = 0; axis < 2; ++axis) places(k, axis) = kPlaces[k][axis];
  return places;
}

/// Returns glimpses (B, D); checks that every element is written and nothing outside.
inline GuardedMatrix look_at(Environment& environment, const GuardedMatrix& locations) {
  GuardedMatrix glimpses(environment.episodes(), environment.glimpse_size());
  glimpses.fill(std::numeric_limits<float>::quiet_NaN());
  environment.look(locations.view(), glimpses.view());
  return glimpses;
}

/// Returns glimpses (B, D) read between pixels; checks that they and the slopes are written
/// completely, and nothing outside.
inline GuardedMatrix look_smoothly(Environment& environment, const GuardedMatrix& locations) {
  const int episodes = environment.episodes(), size = environment.glimpse_size();
  const int slope_count = environment.location_size() * size;
  GuardedMatrix glimpses(episodes, size), slopes(episodes, slope_count);
  glimpses.fill(std::numeric_limits<float>::quiet_NaN());
  slopes.fill(std::numeric_limits<float>::quiet_NaN());
  environment.look_smoothly(locations.view(), glimpses.view(), slopes.view());
  for (int b = 0; b < episodes; ++b)
    for (int i = 0; i < slope_count; ++i) CHECK(std::isfinite(slopes(b, i)));
  return glimpses;
}

/// Returns glimpses (B K, D) at places (K, 2); checks that every element is written and nothing
/// outside.
inline GuardedMatrix look_at_all(Environment& environment, const GuardedMatrix& places) {
  GuardedMatrix glimpses(environment.episodes() * places.view().rows, environment.glimpse_size());
  glimpses.fill(std::numeric_limits<float>::quiet_NaN());
  environment.look_at_all(places.view(), glimpses.view());
  return glimpses;
}

/// Returns the canvases (B, channels * rows * cols); checks that every element is written and
/// nothing outside.
inline GuardedMatrix view_of(Environment& environment) {
  GuardedMatrix canvases(environment.episodes(), environment.canvas().pixels());
  canvases.fill(std::numeric_limits<float>::quiet_NaN());
  environment.view(canvases.view());
  return canvases;
}

/// Returns the observation of look t: glimpses at random locations, or the canvases if glimpses are
/// not available.
inline GuardedMatrix observe(Environment& environment, std::uint32_t t) {
  if (environment.glimpse_size() == 0) return view_of(environment);
  return look_at(environment, random_locations(environment, t));
}

/// Returns rewards (B) of a call with (answers, rewards); checks that every element is written and
/// nothing outside.
template <class Call>
std::vector<float> rewards_of(const Environment& environment, Call&& call) {
  std::vector<float> memory(environment.episodes() + 2, -7.0F);
  call(std::span(memory).subspan(1, memory.size() - 2));
  CHECK(memory.front() == -7.0F);
  CHECK(memory.back() == -7.0F);
  return {memory.begin() + 1, memory.end() - 1};
}

inline std::vector<float> answer_all(Environment& environment, const std::vector<int>& classes) {
  return rewards_of(environment,
                    [&](std::span<float> rewards) { environment.answer(classes, rewards); });
}

inline std::vector<float> say_all(Environment& environment, const std::vector<int>& symbols) {
  return rewards_of(environment, [&](std::span<float> rewards) {
    environment.answer_sequence(symbols, rewards);
  });
}

inline std::vector<float> act_all(Environment& environment, const std::vector<int>& actions) {
  return rewards_of(environment,
                    [&](std::span<float> rewards) { environment.act(actions, rewards); });
}

/// Uniformly random actions (B) of step t.
inline std::vector<int> random_actions(const Environment& environment, std::uint32_t t) {
  std::vector<int> actions;
  for (int b = 0; b < environment.episodes(); ++b)
    actions.push_back(RandomStream(5, Purpose::policy_noise, t, static_cast<std::uint32_t>(b))
                          .below(environment.num_classes()));
  return actions;
}

/// Makes one call of the environment's kind of answer, right or wrong.
inline void answer_somehow(Environment& environment) {
  const std::vector<int> answers(environment.episodes());
  switch (environment.answer_kind()) {
    case AnswerKind::one_class:
      answer_all(environment, answers);
      break;
    case AnswerKind::sequence:
      say_all(environment, std::vector<int>(environment.episodes() * environment.max_symbols()));
      break;
    case AnswerKind::actions:
      act_all(environment, answers);
      break;
  }
}

inline std::vector<int> labels_of(const Environment& environment) {
  std::vector<int> labels;
  for (const SceneFacts& facts : environment.facts()) labels.push_back(facts.label);
  return labels;
}

/// Returns all facts as one list of numbers.
inline std::vector<float> facts_of(const Environment& environment) {
  std::vector<float> all;
  const auto add = [&](auto... values) { (all.push_back(static_cast<float>(values)), ...); };
  for (const SceneFacts& facts : environment.facts()) {
    add(facts.label, facts.num_digits, facts.length, facts.num_symbols);
    for (const Box& box : facts.boxes) add(box.x, box.y, box.width, box.height);
    for (const int digit_class : facts.classes) add(digit_class);
    for (const bool is_answer : facts.is_answer) add(is_answer);
    for (const int symbol : facts.symbols) add(symbol);
  }
  return all;
}

}  // namespace saccade
