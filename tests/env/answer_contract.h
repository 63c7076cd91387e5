#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "env/environment.h"
#include "tests/env/environment_calls.h"

// The part of the environment contract (environment_contract.h) that depends on the kind of answer.
namespace saccade {

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
    CHECK(labels_of(*environment) == labels);  // the facts are unchanged
  }
  environment->reset(3);
  const std::vector<int> labels = labels_of(*environment);
  CHECK(answer_all(*environment, labels) == std::vector<float>(labels.size(), 1.0F));
}

inline void check_sequences(const MakeEnvironment& make) {
  const auto environment = make();
  const int longest = environment->max_symbols(), end_mark = environment->num_classes() - 1;
  REQUIRE(longest >= 2);
  REQUIRE(longest <= kMaxSymbols);
  const int episodes = environment->episodes();
  const auto right = [&](int filler) {  // symbols after the end marks
    std::vector<int> symbols(episodes * longest, filler);
    for (int b = 0; b < episodes; ++b)
      std::copy_n(environment->facts()[b].symbols.begin(), environment->facts()[b].num_symbols,
                  symbols.begin() + static_cast<std::ptrdiff_t>(b) * longest);
    return symbols;
  };
  environment->reset(3);
  for (const SceneFacts& facts : environment->facts()) {
    REQUIRE(facts.num_symbols >= 2);
    REQUIRE(facts.num_symbols <= longest);
    for (int i = 0; i < facts.num_symbols; ++i) {
      CHECK(facts.symbols[i] >= 0);
      CHECK((facts.symbols[i] == end_mark) == (i == facts.num_symbols - 1));
      CHECK(facts.symbols[i] <= end_mark);
    }
  }
  const std::vector<float> facts = facts_of(*environment), all_right(episodes, 1.0F);
  for (const int filler : {0, end_mark, -1}) {
    environment->reset(3);
    CHECK(say_all(*environment, right(filler)) == all_right);
    CHECK(facts_of(*environment) == facts);  // they are unchanged
  }
  for (int i = 0; i < longest; ++i) {  // one wrong symbol, or the end mark too late or too early
    environment->reset(3);
    std::vector<int> symbols = right(end_mark);
    std::vector<float> expected = all_right;
    for (int b = 0; b < episodes; ++b) {
      int& symbol = symbols[b * longest + i];
      symbol = symbol == end_mark ? 0 : b % 2 == 0 ? end_mark : symbol + 1;
      if (i < environment->facts()[b].num_symbols) expected[b] = 0.0F;
    }
    CHECK(say_all(*environment, symbols) == expected);
  }
}

inline void check_actions(const MakeEnvironment& make) {
  constexpr std::uint32_t kSteps = 50;
  const auto environment = make(), twin = make();
  const int actions = environment->num_classes(), episodes = environment->episodes();
  environment->reset(3);
  twin->reset(1000);
  twin->reset(3);
  for (std::uint32_t t = 0; t < kSteps; ++t) {
    for (const int bad : {-1, actions})
      for (const int b : {0, episodes - 1}) {
        std::vector<int> some = random_actions(*environment, t);
        some[b] = bad;
        CHECK_THROWS_AS(act_all(*environment, some), std::out_of_range);
      }
    // A refused action has no effect: the twin was never asked.
    const std::vector<int> chosen = random_actions(*environment, t);
    const std::vector<float> rewards = act_all(*environment, chosen);
    for (const float reward : rewards) CHECK(std::isfinite(reward));
    CHECK(act_all(*twin, chosen) == rewards);
    CHECK(facts_of(*twin) == facts_of(*environment));
    CHECK(observe(*twin, t) == observe(*environment, t));
  }
  // Actions influence what happens.
  environment->reset(3);
  twin->reset(3);
  for (std::uint32_t t = 0; t < kSteps; ++t) {
    act_all(*environment, std::vector<int>(episodes, 0));
    act_all(*twin, std::vector<int>(episodes, actions - 1));
  }
  if (environment->canvas().pixels() > 0) CHECK_FALSE(view_of(*twin) == view_of(*environment));
}

}  // namespace saccade
