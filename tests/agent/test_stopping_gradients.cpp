// The losses of an agent that answers one class and may stop, and their gradients.
#include <doctest/doctest.h>

#include "tests/agent/slopes.h"
#include "tests/agent/stopping_player.h"

namespace saccade {
namespace {

TEST_CASE("the gradient of a lane that may stop is the slope of its losses") {
  std::vector<AgentConfig> all;
  for (const std::string& stop : learned_stops()) {
    for (const std::string& core : core_kinds()) all.push_back(stopping_config(stop, core));
    for (const std::string& kind : glimpse_kinds()) {
      AgentConfig config = stopping_config(stop, "gru");
      config.glimpse.kind = kind;
      if (kind == "soft_grid") config.glimpse.expect = "features";
      if (takes_glimpses(config)) all.push_back(config);
    }
    for (const std::string& hidden : hidden_kinds()) {
      AgentConfig config = stopping_config(stop);
      config.hidden = {.kind = hidden, .query = "mean", .attend = {.score_hidden = 6}, .hops = 2};
      if (hidden == "self") config.hidden.penalty = 0.1;
      all.push_back(config);
    }
    for (const std::string& advantage : advantage_estimators()) {
      AgentConfig config = stopping_config(stop);
      set_credit(config, advantage, "gain");
      config.training.step_loss = 0.0;
      all.push_back(config);
    }
  }
  for (const AgentConfig& config : all) {
    CAPTURE(config.glimpse.stop);
    CAPTURE(config.model.core);
    CAPTURE(config.glimpse.kind);
    CAPTURE(config.hidden.kind);
    CAPTURE(config.reinforce.advantage);
    check_slopes(config);
  }
}

TEST_CASE("each loss of a stop sends gradient where the comment above Lane says") {
  const std::set<std::string> seeing = {"glimpse", "core", "classifier"};
  const auto reached = [](const std::string& stop, double classifier, double reinforce,
                          double price, double prior) {
    AgentConfig config = stopping_config(stop);
    config.training.classifier_weight = classifier;
    config.training.step_loss = config.reinforce.entropy = config.reinforce.baseline_weight = 0.0;
    config.reinforce.weight = reinforce;
    config.glimpse.stop_price = price;
    config.glimpse.stop_prior_weight = prior;
    return reached_parts(Played(config));
  };
  CHECK(reached("sampled", 1, 0, 1, 1) == seeing);
  CHECK(reached("sampled", 0, 1, 0, 0) == std::set<std::string>{"locator", "stop"});
  std::set<std::string> expected = seeing;
  expected.insert("stop");
  CHECK(reached("expected", 1, 0, 0, 0) == expected);
  CHECK(reached("expected", 0, 0, 1, 0) == expected);
  CHECK(reached("expected", 0, 0, 0, 1) == expected);
  CHECK(reached("expected", 0, 1, 0, 0) == std::set<std::string>{"locator"});
}

TEST_CASE("the expected loss is the sum over all stopping times") {
  AgentConfig config = stopping_config("expected");
  config.training.step_loss = 0.0;
  const Played played(config);
  StoppingPlayer player(config, kEpisodes, config.reinforce.rollouts);
  player.parameters = played.parameters;
  Rollout& rollout = player.rollout;
  player.play({.first_scene = kFirstScene, .seed = 11, .update = 2, .progress = 0.0});
  double answers = 0.0, penalty = 0.0;
  for (int b = 0; b < kEpisodes; ++b) {
    double going_on = 1.0, prior_going_on = 1.0;
    for (int t = 0; t < player.steps(); ++t) {
      const double lambda = player.halting(t, b);
      const double p = going_on * lambda;
      const double q = prior_going_on * (t == player.steps() - 1 ? 1.0 : config.glimpse.stop_prior);
      const int label = rollout.environment->facts()[b].label;
      answers -=
          config.training.classifier_weight * p * std::log(player.probabilities(t, b)[label]);
      penalty += p * config.glimpse.stop_price * t +
                 config.glimpse.stop_prior_weight * p * std::log(p / q);
      going_on *= 1.0 - lambda;
      prior_going_on *= 1.0 - config.glimpse.stop_prior;
    }
  }
  CHECK(played.sums.classifier == doctest::Approx(answers).epsilon(1e-5));
  CHECK(played.sums.penalty == doctest::Approx(penalty).epsilon(1e-5));
}

}  // namespace
}  // namespace saccade
