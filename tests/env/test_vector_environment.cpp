#include "env/vector_environment.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/env/plain_environment.h"
#include "tests/env/vector_fixtures.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kGlimpses = 4;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<int> answer_of(const VectorArrays& arrays, int i) {
  const std::size_t size = arrays.answers.size() / arrays.count;
  return {arrays.answers.begin() + i * size, arrays.answers.begin() + (i + 1) * size};
}

std::string fault(const EpisodeRules& rules, int count, const std::string& kind = "cluttered") {
  return message_of<InputError>(
      [&] { VectorEnvironment(NoiseWorlds(kind).factory(), count, rules, 1); });
}

}  // namespace

TEST_CASE("a vector environment equals its environments one by one, however they are reset") {
  constexpr int kCount = 37, kSteps = 40;  // two lanes
  for (const std::string kind : {"cluttered", "bag", "transcribe", "search", "catch"})
    for (const Autoreset autoreset :
         {Autoreset::next_step, Autoreset::same_step, Autoreset::disabled})
      for (const bool halt : {false, true}) {
        if (halt && kind == "catch") continue;
        CAPTURE(kind);
        CAPTURE(static_cast<int>(autoreset));
        CAPTURE(halt);
        const NoiseWorlds worlds(kind);
        const EpisodeRules rules{.num_glimpses = kGlimpses,
                                 .first = halt ? FirstLook::center : FirstLook::random,
                                 .halt = halt,
                                 .look_price = 0.125,
                                 .autoreset = autoreset,
                                 .num_boxes = worlds.num_boxes()};
        VectorEnvironment environments(worlds.factory(), kCount, rules, 1);
        VectorArrays arrays(environments);
        arrays.reset(environments, 5);
        std::vector<PlainEnvironment> plain;
        for (int i = 0; i < kCount; ++i) plain.emplace_back(worlds.factory(), rules, 5 + i);
        for (int i = 0; i < kCount; ++i) REQUIRE(arrays.row(i) == plain[i].row());

        int ends = 0;
        for (int t = 0; t < kSteps; ++t) {
          arrays.step(environments, t);
          std::vector<std::uint8_t> over(kCount);
          for (int i = 0; i < kCount; ++i) {
            if (plain[i].over()) {  // next_step
              plain[i].begin();
              REQUIRE(arrays.rewards[i] == 0.0);
              REQUIRE_FALSE(arrays.terminated[i]);
              REQUIRE(arrays.row(i) == plain[i].row());
              continue;
            }
            plain[i].step(arrays.locations(i, 0), arrays.locations(i, 1), answer_of(arrays, i),
                          arrays.halts[i]);
            over[i] = plain[i].over();
            ends += over[i];
            REQUIRE(arrays.rewards[i] == plain[i].reward());
            REQUIRE(arrays.terminated[i] == over[i]);
            if (over[i] && autoreset == Autoreset::same_step) {
              VectorArrays last(environments);
              const VectorObservation& end = environments.final_observation();
              std::copy_n(end.glimpses.data, last.glimpses.size(), last.glimpses.data());
              std::copy_n(end.locations.data, last.places.size(), last.places.data());
              std::ranges::copy(end.steps, last.steps.begin());
              std::ranges::copy(end.labels, last.labels.begin());
              std::ranges::copy(end.boxes, last.boxes.begin());
              std::ranges::copy(end.on_target, last.on_target.begin());
              REQUIRE(last.row(i) == plain[i].row());
              plain[i].begin();
            }
            REQUIRE(arrays.row(i) == plain[i].row());
          }
          if (autoreset != Autoreset::disabled ||
              std::ranges::none_of(over, [](bool end) { return end; }))
            continue;
          environments.reset(std::vector<std::int64_t>(kCount, -1), over, arrays.seen());
          for (int i = 0; i < kCount; ++i) {
            if (over[i]) plain[i].begin();
            REQUIRE(arrays.row(i) == plain[i].row());
          }
        }
        CHECK(ends > kCount);
      }
}

TEST_CASE("vector environment: any number of threads gives the same bits") {
  for (const std::string kind : {"bag", "search", "catch"}) {
    const NoiseWorlds worlds(kind);
    const auto play = [&](int threads) {
      VectorEnvironment environments(worlds.factory(), 100,
                                     {.num_glimpses = kGlimpses, .num_boxes = worlds.num_boxes()},
                                     threads);
      VectorArrays arrays(environments);
      arrays.reset(environments, 0);
      std::vector<double> all = arrays.everything();
      for (int t = 0; t < 12; ++t) {
        arrays.step(environments, t);
        const std::vector<double> step = arrays.everything();
        all.insert(all.end(), step.begin(), step.end());
      }
      return all;
    };
    const std::vector<double> one = play(1);
    for (const int threads : {2, 4}) CHECK(play(threads) == one);
  }
}

TEST_CASE("vector environment: a restored state continues with the same bits") {
  for (const std::string kind : {"bag", "search", "catch"}) {
    CAPTURE(kind);
    const NoiseWorlds worlds(kind);
    const EpisodeRules rules{
        .num_glimpses = kGlimpses, .halt = kind != "catch", .num_boxes = worlds.num_boxes()};
    VectorEnvironment environments(worlds.factory(), 35, rules, 1);
    VectorArrays arrays(environments);
    arrays.reset(environments, 5);
    for (int t = 0; t < 9; ++t) {
      VectorEnvironment twin(worlds.factory(), 35, rules, 1);
      twin.restore(environments.state());
      VectorArrays other(twin);
      arrays.step(environments, t);
      other.step(twin, t);
      CHECK(arrays.everything() == other.everything());
    }
  }
}

TEST_CASE(
    "vector environment: a state of an episode that goes on after its last glimpse is refused") {
  const NoiseWorlds worlds("catch");
  const EpisodeRules rules{.num_glimpses = kGlimpses, .num_boxes = worlds.num_boxes()};
  VectorEnvironment environments(worlds.factory(), 3, rules, 1);
  VectorArrays arrays(environments);
  arrays.reset(environments, 5);
  constexpr int kSteps = 2, kEnded = 4;  // of the counters of an episode
  VectorState state = environments.state();
  state.counters[kSteps] = kGlimpses;
  CHECK_THROWS_AS(environments.restore(state), InputError);
  state.counters[kEnded] = 1;
  environments.restore(state);
}

TEST_CASE("vector environment: it is threaded only with several threads and enough episodes") {
  const NoiseWorlds worlds("cluttered");
  CHECK_FALSE(VectorEnvironment(worlds.factory(), 32, {}, 4).threaded());
  CHECK_FALSE(VectorEnvironment(worlds.factory(), 33, {}, 1).threaded());
  CHECK(VectorEnvironment(worlds.factory(), 33, {}, 2).threaded());
}

TEST_CASE("vector environment: an episode reports its progress") {
  const NoiseWorlds worlds("bag");
  VectorEnvironment environments(worlds.factory(), 3,
                                 {.num_glimpses = 2, .look_price = 0.5, .num_boxes = 5}, 1);
  VectorArrays arrays(environments);
  arrays.reset(environments, 0);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      const EpisodeSoFar begin = environments.episode(i);
      CHECK(begin.path.rows == 1);
      CHECK(begin.path(0, 0) == arrays.places(i, 0));
      CHECK(begin.answer.empty());
      CHECK(begin.reward == 0.0);
      CHECK_FALSE(begin.ended);
    }
    for (int t = 1; t <= 2; ++t) {
      arrays.step(environments, t);
      for (int i = 0; i < 3; ++i) {
        const EpisodeSoFar episode = environments.episode(i);
        if (t == 2 && !episode.ended) continue;  // a bag of one digit has already ended
        CHECK(episode.path.rows == t + 1);
        CHECK(episode.path(t, 0) == arrays.locations(i, 0));
        CHECK(episode.path(t, 1) == arrays.locations(i, 1));
        CHECK(episode.answer[0] == arrays.answers[i]);
        CHECK(episode.ended == (arrays.terminated[i] != 0));
        CHECK(episode.reward == (t == 1 ? 0.0 : -0.5) + arrays.rewards[i]);
      }
    }
    environments.reset(std::vector<std::int64_t>(3, -1), std::vector<std::uint8_t>(3, 1),
                       arrays.seen());
  }
}

TEST_CASE("vector environment: a refused call changes nothing") {
  const NoiseWorlds worlds("cluttered");
  const EpisodeRules rules{.num_glimpses = 3, .autoreset = Autoreset::disabled};
  VectorEnvironment environments(worlds.factory(), 3, rules, 1);
  VectorEnvironment twin(worlds.factory(), 3, rules, 1);
  VectorArrays arrays(environments), other(twin);
  const std::vector<std::int64_t> seeds = {4, 5, 6}, no_seeds = {-1, -1, -1};
  const std::vector<std::uint8_t> all = {1, 1, 1}, some = {1, 0, 1};
  const auto reset = [&](const auto& which, const auto& mask) {
    return message_of<InputError>([&] { environments.reset(which, mask, arrays.seen()); });
  };
  const auto step = [&] {
    return message_of<InputError>([&] {
      environments.step(arrays.actions(), arrays.seen(), arrays.rewards, arrays.terminated);
    });
  };
  CHECK_THROWS_AS(arrays.step(environments, 0), std::logic_error);
  CHECK(reset(seeds, some) ==
        "reset_mask: environment 1 is left out and was never reset; reset all of them first");
  CHECK(reset(no_seeds, all) == "seed: none for environment 0, which never had one");
  CHECK(reset(std::vector<std::int64_t>{4, -1, 6}, all) ==
        "seed: none for environment 1, which never had one");
  CHECK_THROWS_AS(arrays.step(environments, 0), std::logic_error);

  environments.reset(seeds, all, arrays.seen());
  twin.reset(seeds, all, other.seen());
  CHECK(arrays.everything() == other.everything());
  arrays.step(environments, 0);
  other.step(twin, 0);
  const std::vector<double> before = arrays.everything();
  for (const float bad : {1.01F, -2.0F, kNaN}) {
    arrays.locations(2, 1) = bad;
    CHECK(step() == fmt::format("action 'location' of environment 2: {}; allowed: -1 to 1", bad));
  }
  arrays.locations(2, 1) = 0.0F;
  for (const int bad : {-1, 10}) {
    arrays.answers[1] = bad;
    CHECK(step() == fmt::format("action 'answer' of environment 1: {}; allowed: 0 to 9", bad));
  }
  CHECK(arrays.everything() == before);
  CHECK(environments.episode(1).answer[0] == other.answers[1]);
  for (int t = 1; t < 3; ++t) {
    arrays.step(environments, t);
    other.step(twin, t);
    CHECK(arrays.everything() == other.everything());
  }
  arrays.answers[1] = 0;
  CHECK(step() ==
        "step() after the end of the episode of environment 0; reset() begins another one");
  environments.reset(no_seeds, some, arrays.seen());
  CHECK(step() ==
        "step() after the end of the episode of environment 1; reset() begins another one");
}

TEST_CASE("vector environment: invalid rules are refused") {
  CHECK(fault({}, 0) == "num_envs: 0; allowed: 1 to 1000000");
  CHECK(fault({.num_glimpses = 0}, 1) == "num_glimpses: 0; allowed: 1 to 1000");
  CHECK(fault({.num_glimpses = 1001}, 1) == "num_glimpses: 1001; allowed: 1 to 1000");
  CHECK(fault({.look_price = std::numeric_limits<double>::infinity()}, 1) ==
        "look_price: inf; allowed: a number");
  CHECK(fault({.num_boxes = 0}, 1) == "num_boxes: 0; allowed: 1 to 16");
  CHECK(fault({.num_boxes = 17}, 1) == "num_boxes: 17; allowed: 1 to 16");
  CHECK(fault({.num_boxes = 16}, 1) == "nothing thrown");
  CHECK(fault({.halt = true}, 1, "catch") ==
        "halt: true, but every action counts here; allowed: false");
  CHECK(fault({.halt = true}, 1) == "nothing thrown");
}

}  // namespace saccade
