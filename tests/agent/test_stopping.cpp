// When an agent that answers one class stops looking, and which agents can.
#include "agent/answering/stopping.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/model/check.h"
#include "base/error.h"
#include "tests/agent/stopping_player.h"
#include "tests/support.h"

namespace saccade {
namespace {

// ---- When it stops ----

TEST_CASE("confidence stops after the first look whose answer is probable enough") {
  AgentConfig config = stopping_config("confidence");
  for (const double threshold : {0.4, 0.6, 0.9, 0.99}) {
    config.glimpse.stop_threshold = threshold;
    StoppingPlayer player(config);
    for (const SamplingMode sampling : {SamplingMode::deterministic, SamplingMode::sample}) {
      player.play({.sampling = sampling});
      for (int b = 0; b < kEpisodes; ++b) {
        int looks = 1;
        while (looks < 3 && player.probabilities(looks - 1, b)[player.most_probable(looks - 1, b)] <
                                static_cast<float>(threshold))
          ++looks;
        CHECK(player.rollout.stopped_at(b) == looks);
        CHECK(player.rollout.answer->predictions(b)[0] == player.most_probable(looks - 1, b));
      }
    }
  }
}

TEST_CASE("confidence is trained like an agent that never stops, bit for bit") {
  const Played with(stopping_config("confidence")), without(stopping_config("none"));
  CHECK(with.gradient == without.gradient);
  CHECK(with.sums.loss() == without.sums.loss());
  for (int b = 0; b < kEpisodes; ++b) CHECK(with.lane.rollout().stopped_at(b) == 3);
}

TEST_CASE("learned stops are a quantile of the stopping times where they are not drawn") {
  for (const std::string& stop : learned_stops()) {
    CAPTURE(stop);
    AgentConfig config = stopping_config(stop);
    int earlier = 0;
    for (const double threshold : {0.2, 0.5, 0.9}) {
      config.glimpse.stop_threshold = threshold;
      StoppingPlayer player(config);
      player.play({.sampling = SamplingMode::deterministic});
      int total = 0;
      for (int b = 0; b < kEpisodes; ++b) {
        const int looks = player.looks_at_quantile(b, threshold);
        CHECK(player.rollout.stopped_at(b) == looks);
        CHECK(player.rollout.answer->predictions(b)[0] == player.most_probable(looks - 1, b));
        total += looks;
      }
      CHECK(total > earlier);
      earlier = total;
    }
  }
}

TEST_CASE("drawn stops have the probabilities of their head, and leave the looks alone") {
  StoppingPlayer drawing(stopping_config("sampled"), 12), resting(stopping_config("none"), 12);
  std::array<double, 3> expected{}, counted{};
  for (std::uint32_t update = 0; update < 300; ++update) {
    drawing.play({.seed = 4, .update = update});
    if (update == 0) {
      randomize(flat(resting.parameters), resting.model.layout(), 0.0F, 1);
      for (const Parameter& p : resting.model.layout().parameters())
        std::ranges::copy(
            values_of(flat(drawing.parameters), find_parameter(drawing.model.layout(), p.name)),
            values_of(flat(resting.parameters), p).begin());
    }
    resting.play({.seed = 4, .update = update});
    CHECK(drawing.rollout.look->actions == resting.rollout.look->actions);
    for (int b = 0; b < 12; ++b) {
      ++counted[drawing.rollout.stopped_at(b) - 1];
      double going_on = 1.0;
      for (int t = 0; t < 3; ++t) {
        expected[t] += going_on * drawing.halting(t, b);
        going_on *= 1.0 - drawing.halting(t, b);
      }
    }
  }
  for (int t = 0; t < 3; ++t) {
    CHECK(expected[t] > 100.0);
    CHECK(std::abs(counted[t] - expected[t]) < 4.0 * std::sqrt(expected[t]));
  }
}

TEST_CASE("a learned stop begins so that all looks are tried while the agent knows nothing") {
  for (const std::string& stop : learned_stops()) {
    StoppingPlayer player(stopping_config(stop));
    player.model.layout().initialize(flat(player.parameters), 3);
    player.play({});
    for (int t = 0; t < 2; ++t)
      for (int b = 0; b < kEpisodes; ++b) {
        CHECK(player.halting(t, b) > 0.05);
        CHECK(player.halting(t, b) < 0.5);
      }
  }
}

// ---- Without it, and where it cannot be ----

TEST_CASE("an agent that never stops has no parameters of a stop") {
  for (const std::string& stop : stop_kinds()) {
    AgentConfig config = stopping_config(stop);
    const auto has_head = [](const Model& model) {
      return std::ranges::any_of(model.layout().parameters(),
                                 [](const Parameter& p) { return p.name.starts_with("stop."); });
    };
    CAPTURE(stop);
    CHECK(has_head(Model(config, kTinySpec)) == find_stop_kind(stop).learned());
    CHECK(Model(config, kTinySpec).answer().stops == find_stop_kind(stop).stops);
    config.glimpse.kind = "whole";
    CHECK_FALSE(has_head(Model(config, kTinySpec)));
    config.glimpse.kind = "hard_gaussian";
    config.model.kind = "mlp";
    CHECK_FALSE(Model(config, kTinySpec).answer().stops);
  }
}

TEST_CASE("an agent without later looks or with actions cannot stop") {
  AgentConfig config = stopping_config("expected");
  const auto message = [&](AnswerKind answer) {
    return message_of<SettingError>([&] { check(config, answer); });
  };
  CHECK(message(AnswerKind::actions) ==
        "attention.glimpse.stop: expected needs a task whose answer is one class or a sequence; "
        "allowed for actions: none");
  config.glimpse.num_glimpses = 1;
  CHECK(message(AnswerKind::one_class) ==
        "attention.glimpse.stop: expected needs attention.glimpse.num_glimpses > 1, not 1");
  config.glimpse.stop = "late";
  CHECK(message_of<InputError>([&] { check(config, AnswerKind::one_class); }) ==
        "unknown attention.glimpse.stop 'late'; allowed: none, confidence, sampled, expected");
}

}  // namespace
}  // namespace saccade
