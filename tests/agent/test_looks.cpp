// Common properties of the ways of looking: equal initial weights for equal names, equal answers if
// there is no choice, hard and soft reads of one distribution, and replay.
#include "agent/looking/looking.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "agent/looking/glimpse_input.h"
#include "agent/model/rollout.h"
#include "attention/categorical.h"
#include "attention/grid.h"
#include "base/error.h"
#include "base/name_table.h"
#include "tests/agent/agents.h"
#include "tests/agent/look_player.h"
#include "tests/support.h"

namespace saccade {
namespace {

LookTraits look_of(const AgentConfig& config) { return Model(config, kTinySpec).look(); }

AgentConfig at_temperature(AgentConfig config, double temperature) {
  config.glimpse.temperature = {temperature, temperature, 1.0};
  return config;
}

TEST_CASE("a random first look is sampled, whatever the kind of the later ones") {
  AgentConfig config = tiny_config();
  config.glimpse.kind = "hard_categorical";
  config.glimpse.first = "random";
  for (const char* kind : {"hard_categorical", "soft_grid"})
    for (const SamplingMode sampling : {SamplingMode::deterministic, SamplingMode::argmax}) {
      config.glimpse.kind = kind;
      if (sampling == SamplingMode::deterministic && kind == std::string("soft_grid")) continue;
      LookPlayer player(config);
      std::map<int, int> count;  // of each candidate
      for (std::uint32_t update = 0; update < 300; ++update) {
        player.run({.update = update, .sampling = sampling});
        const ConstMatrix first = step(player.rollout.look->actions, 0);
        for (int b = 0; b < first.rows; ++b)
          ++count[static_cast<int>(std::max_element(first.row(b), first.row(b) + first.cols) -
                                   first.row(b))];
      }
      REQUIRE(count.size() == 6);
      for (const auto& [candidate, times] : count) {  // mean 200, standard deviation 13
        CAPTURE(candidate);
        CHECK(std::abs(times - 200) < 70);
      }
    }
}

void check_same_but_deterministic(LookPlayer& a, LookPlayer& b) {
  for (const SamplingMode sampling :
       {SamplingMode::training, SamplingMode::sample, SamplingMode::argmax}) {
    a.run({.sampling = sampling});
    b.run({.sampling = sampling});
    CHECK(std::ranges::equal(a.rollout.look->actions, b.rollout.look->actions));
  }
}

TEST_CASE("only the deterministic pass spreads its looks, starting with a learned first look") {
  for (const std::string first : {"center", "learned"}) {
    CAPTURE(first);
    AgentConfig config = tiny_config();
    config.glimpse.kind = "hard_gaussian";
    config.glimpse.first = first;
    config.glimpse.std = {0.2, 0.2, 1.0};
    AgentConfig spread = config;
    spread.glimpse.spread = 1.5;
    LookPlayer still(config), about(spread);

    check_same_but_deterministic(still, about);
    about.run({.sampling = SamplingMode::deterministic, .policy = find_policy("center")});
    CHECK(std::ranges::all_of(about.rollout.look->actions, [](float l) { return l == 0.0F; }));

    about.run({.sampling = SamplingMode::deterministic});
    const Look& look = *about.rollout.look;
    for (int t = 0; t < about.rollout.core.steps; ++t) {
      CAPTURE(t);
      const bool learned = t > 0 || first == "learned";
      const std::array<float, 2> offset = spread_offset(t, about.rollout.core.steps);
      for (int b = 0; b < kLookEpisodes; ++b)
        for (int axis = 0; axis < 2; ++axis)
          CHECK(look.actions(t, b, axis) ==
                doctest::Approx(learned ? look.decisions(t, b, axis) + 0.3F * offset[axis] : 0.0F));
    }
  }
}

TEST_CASE("soft_point spreads its looks in every pass, by a width that shrinks in training") {
  AgentConfig config = tiny_config();
  config.glimpse.kind = "soft_point";
  config.glimpse.first = "learned";
  config.glimpse.std = {0.4, 0.2, 1.0};
  config.glimpse.spread = 1.5;
  LookPlayer about(config);
  for (const double progress : {0.0, 1.0})
    for (const SamplingMode sampling : {SamplingMode::training, SamplingMode::deterministic}) {
      about.run({.progress = progress, .sampling = sampling});
      const Look& look = *about.rollout.look;
      CHECK(look.entropy(1, 0) == 0.0F);
      CHECK(look.log_probability(1, 0) == 0.0F);
      const float width = progress == 0.0 ? 0.6F : 0.3F;
      for (int t = 0; t < about.rollout.core.steps; ++t) {
        const std::array<float, 2> offset = spread_offset(t, about.rollout.core.steps);
        for (int b = 0; b < kLookEpisodes; ++b)
          for (int axis = 0; axis < 2; ++axis)
            CHECK(look.actions(t, b, axis) ==
                  doctest::Approx(look.decisions(t, b, axis) + width * offset[axis]));
      }
    }
  about.run({.policy = find_policy("center")});
  CHECK(std::ranges::all_of(about.rollout.look->actions, [](float l) { return l == 0.0F; }));
}

TEST_CASE("only the deterministic pass of a choice among candidates takes its quantiles") {
  for (const std::string first : {"center", "learned"}) {
    CAPTURE(first);
    AgentConfig config = tiny_config();
    config.glimpse.kind = "hard_categorical";
    config.glimpse.first = first;
    AgentConfig spread = config;
    spread.glimpse.spread = 1.0;
    LookPlayer still(config), about(spread);
    check_same_but_deterministic(still, about);

    about.run({.sampling = SamplingMode::deterministic});
    const Look& look = *about.rollout.look;
    for (int t = 0; t < about.rollout.core.steps; ++t)
      for (int b = 0; b < kLookEpisodes; ++b) {
        const float* p = &look.decisions(t, b, 0);
        const int count = static_cast<int>(look.decisions.shape()[2]);
        const auto best = static_cast<int>(std::max_element(p, p + count) - p);
        const int wanted = t == 0 ? best : quantile(p, count, spread_quantile(t), 1.0F);
        CHECK(look.actions(t, b, wanted) == 1.0F);
      }
  }
}

TEST_CASE("with equal seeds all kinds start with the same bits in shared parameters") {
  using Key = std::tuple<std::string, int, int>;
  std::map<Key, std::vector<float>> all;
  std::map<Key, int> count;
  for (const auto& [name, config] : every_agent(tiny_config())) {
    CAPTURE(name);
    const Model model(config, kTinySpec);
    Tensor<1> parameters = zeros<1>(model.layout().size());
    model.layout().initialize(flat(parameters), 4);
    for (const Parameter& p : model.layout().parameters()) {
      CAPTURE(p.name);
      const std::vector<float> values =
          values_of(ConstMatrix{values_of(flat(parameters), p).data(), p.rows, p.cols, p.cols});
      const auto [known, is_new] = all.insert({{p.name, p.rows, p.cols}, values});
      ++count[known->first];
      if (!is_new)
        CHECK(std::ranges::equal(values, known->second, [](float a, float b) {
          return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
        }));
    }
  }
  for (const auto& [name, rows, cols] :
       {Key{"glimpse.what.weight", kTinyGlimpse, 7}, Key{"core.weight", 13, 5},
        Key{"locator.hidden.weight", 5, 6}, Key{"locator.score.weight", 5, 8},
        Key{"baseline.weight", 5, 1}}) {
    CAPTURE(name);
    CHECK(count[{name, rows, cols}] > 1);
  }
}

TEST_CASE("every kind gives the same answer if there is only one place to see") {
  std::map<std::string, std::vector<float>> by_network;
  for (const auto& [name, agent] : every_agent(tiny_config("gru"))) {
    if (!look_of(agent).looks || look_of(agent).frame) continue;
    if (look_of(agent).smooth) continue;  // half a pixel away from the others
    if (agent.model.feature_size != tiny_config().model.feature_size)
      continue;  // different weights
    CAPTURE(name);
    AgentConfig config = agent;
    config.glimpse.grid.cells = {1, 1};
    LookPlayer player(config);
    player.run({.policy = find_policy("center")});
    const std::vector<float> answers = player.answers();
    std::vector<float>& expected = by_network[agent.model.glimpse_network];
    if (expected.empty()) expected = answers;
    CHECK(relative_error(answers, expected) < 1e-5);
    if (look_of(config).num_candidates == 0) continue;
    player.run({});  // there is no other choice
    CHECK(player.answers() == answers);
  }
  CHECK(by_network.size() == glimpse_networks().size());
  for (const auto& [network, expected] : by_network)
    CHECK(expected.size() == kLookEpisodes * kTinyClasses);
}

TEST_CASE("as the temperature approaches zero a soft read approaches the most probable candidate") {
  for (const auto& [name, agent] : every_agent(tiny_config())) {
    if (!look_of(agent).expects) continue;
    CAPTURE(name);
    AgentConfig config = agent;
    config.glimpse.first = "center";  // scores of the initial zero state may be equal
    const auto answers = [&](double temperature, SamplingMode sampling) {
      LookPlayer player(at_temperature(config, temperature));
      player.run({.sampling = sampling});
      return player.answers();
    };
    const std::vector<float> hard = answers(1.0, SamplingMode::argmax);
    CHECK(relative_error(answers(1e-5, SamplingMode::training), hard) < 1e-4);
    CHECK(relative_error(answers(1.0, SamplingMode::training), hard) > 1e-3);
  }
}

// Mean and squared standard error over sets of numbers.
struct Mean {
  void add(const std::vector<float>& values) {
    sums.resize(values.size());
    squares.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i] += values[i];
      squares[i] += static_cast<double>(values[i]) * values[i];
    }
    ++count;
  }
  double mean(std::size_t i) const { return sums[i] / count; }
  double error(std::size_t i) const {
    return std::sqrt(std::max(0.0, squares[i] / count - mean(i) * mean(i)) / count);
  }

  std::vector<double> sums, squares;
  int count = 0;
};

// What the expectation is taken of: embeddings, or pixels and places.
std::vector<float> read_of(LookPlayer& player) {
  Rollout& rollout = player.rollout;
  if (rollout.look->glimpses.size() == 0) return values_of(ConstMatrix(rollout.core.feature(0)));
  std::vector<float> values = values_of(ConstMatrix(step(rollout.look->glimpses, 0)));
  for (const float place : rollout.look->locations) values.push_back(place);
  return values;
}

TEST_CASE("the mean of many hard reads is the soft read") {
  constexpr int kPasses = 4000;
  for (const auto& [name, agent] : every_agent(tiny_config())) {
    if (!look_of(agent).expects) continue;
    AgentConfig soft_config = at_temperature(agent, 0.8);
    soft_config.glimpse.num_glimpses = 1;
    soft_config.glimpse.first = "learned";
    AgentConfig hard_config = soft_config;
    hard_config.glimpse.kind = "hard_categorical";
    hard_config.glimpse.expect = "none";
    LookPlayer soft(soft_config);
    soft.run({});
    const std::vector<float> expected = read_of(soft);

    const auto check = [&](LookPlayer& player, SamplingMode sampling) {
      Mean mean;
      for (std::uint32_t pass = 0; pass < kPasses; ++pass) {
        player.run({.update = pass, .sampling = sampling});
        mean.add(read_of(player));
      }
      REQUIRE(mean.sums.size() == expected.size());
      double spread = 0.0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        // One candidate of 800 may never be drawn, and is then missing from the error estimate,
        // too.
        CHECK(std::abs(mean.mean(i) - expected[i]) <= 5.0 * mean.error(i) + 5.0 / kPasses);
        spread = std::max(spread, mean.error(i));
      }
      CHECK(spread > 1e-4);
    };
    CAPTURE(name);
    check(soft, SamplingMode::sample);
    // Hard attention reads embeddings if it has them, otherwise a glimpse.
    if ((agent.glimpse.addressing == "content") != (agent.glimpse.expect == "features")) continue;
    LookPlayer hard(hard_config);
    check(hard, SamplingMode::training);
  }
}

TEST_CASE("replay repeats an episode bit for bit, and other actions change it") {
  for (const auto& [name, config] : every_agent(tiny_config("lstm"))) {
    if (!look_of(config).looks) continue;
    CAPTURE(name);
    LookPlayer player(config);
    player.run({.seed = 9});
    const std::vector<float> answers = player.answers();
    const Tensor<3> actions = player.rollout.look->actions;

    LookPlayer other(config);
    other.run({.seed = 10, .replay = &actions});
    CHECK(other.answers() == answers);

    Tensor<3> shifted = actions;  // by one episode
    for (int t = 0; t < player.rollout.core.steps; ++t)
      for (int b = 0; b < kLookEpisodes; ++b)
        std::ranges::copy(
            std::span(step(actions, t).row((b + 1) % kLookEpisodes), actions.shape()[2]),
            &shifted(t, b, 0));
    // Some controls look at the same places in every episode; learned looks do not.
    const bool same_everywhere = shifted == actions;
    if (find_glimpse_kind(config.glimpse.kind).learning != GlimpseKind::Learning::none)
      CHECK_FALSE(same_everywhere);
    other.run({.replay = &shifted});
    CHECK((other.answers() == answers) == same_everywhere);
  }
}

TEST_CASE("each sampling mode on a distribution over a grid") {
  for (const auto& [name, config] : every_agent(tiny_config())) {
    if (look_of(config).num_candidates == 0) continue;
    const bool soft = look_of(config).expects;
    for (const SamplingMode sampling : {SamplingMode::training, SamplingMode::deterministic,
                                        SamplingMode::argmax, SamplingMode::sample}) {
      CAPTURE(name);
      CAPTURE(static_cast<int>(sampling));
      LookPlayer player(config);
      player.run({.sampling = sampling});
      const bool trains = sampling == SamplingMode::training;
      const bool samples = sampling == SamplingMode::sample || (trains && !soft);
      int unlikely = 0;
      for (int t = 1; t < player.rollout.core.steps; ++t) {  // the first is random
        const ConstMatrix p = step(player.rollout.look->decisions, t);
        const ConstMatrix w = step(player.rollout.look->actions, t);
        for (int b = 0; b < kLookEpisodes; ++b) {
          const std::vector<float> chances(p.row(b), p.row(b) + p.cols);
          const std::vector<float> weights(w.row(b), w.row(b) + w.cols);
          if (soft && (trains || sampling == SamplingMode::deterministic)) {
            CHECK(weights == chances);
            continue;
          }
          CHECK(std::ranges::count(weights, 1.0F) == 1);
          CHECK(std::ranges::count(weights, 0.0F) == p.cols - 1);
          unlikely += std::ranges::max_element(weights) - weights.begin() !=
                      std::ranges::max_element(chances) - chances.begin();
        }
      }
      CHECK((unlikely > 0) == samples);
    }
  }
}

TEST_CASE("hard kinds learn by REINFORCE, soft ones by backpropagation, controls do not learn") {
  using enum GlimpseKind::Learning;
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    const bool hard = kind.starts_with("hard_"), soft = kind.starts_with("soft_");
    CHECK(find_glimpse_kind(kind).learning == (hard ? reinforce : soft ? backpropagation : none));
  }
}

TEST_CASE("an unknown kind lists the valid ones") {
  CHECK(message_of<InputError>([] { find_glimpse_kind("hard"); }) ==
        "unknown attention.glimpse.kind 'hard'; allowed: " + join(glimpse_kinds()));
}

TEST_CASE("a kind implies the addressing of its grid and its expectation") {
  struct Settled {
    std::string kind, addressing, expect, first;
  };
  for (const Settled& expected :
       {Settled{"hard_categorical", "location", "none", "random"},
        Settled{"soft_grid", "content", "features", "random"},
        Settled{"soft_gaussian", "none", "none", "learned"},
        Settled{"soft_point", "none", "none", "random"},
        Settled{"hard_gaussian", "none", "none", "random"},
        Settled{"random", "none", "none", "random"}, Settled{"scan", "none", "none", "random"}}) {
    CAPTURE(expected.kind);
    GlimpseConfig config{.kind = expected.kind};
    for (int times = 0; times < 2; ++times) {  // applying the defaults twice changes nothing
      settle(config);
      CHECK(config.kind == expected.kind);
      CHECK(config.addressing == expected.addressing);
      CHECK(config.expect == expected.expect);
      CHECK(config.first == expected.first);
    }
  }
}

TEST_CASE("explicit settings are not overridden by defaults") {
  GlimpseConfig hard{.kind = "hard_categorical", .first = "center", .addressing = "content"};
  settle(hard);
  CHECK(hard.addressing == "content");
  CHECK(hard.first == "center");
  GlimpseConfig soft{.kind = "soft_grid", .addressing = "location", .expect = "pixels"};
  settle(soft);
  CHECK(soft.addressing == "location");
  CHECK(soft.expect == "pixels");
  GlimpseConfig unknown{.kind = "soft"};
  CHECK_THROWS_AS(settle(unknown), InputError);
}

}  // namespace
}  // namespace saccade
