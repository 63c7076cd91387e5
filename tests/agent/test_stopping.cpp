// When an agent stops looking: the rules, the credit of looks and of stops by enumeration of all
// stopping times, and the gradients.
#include "agent/answering/stopping.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/learning/credit_assignment.h"
#include "agent/model/check.h"
#include "base/error.h"
#include "tests/agent/slopes.h"
#include "tests/support.h"

namespace saccade {
namespace {

AgentConfig stopping_config(const std::string& stop, const std::string& core = "rnn") {
  AgentConfig config = busy_config(core);
  config.glimpse.stop = stop;
  config.glimpse.stop_price = 0.05;
  config.glimpse.stop_prior = 0.3;
  config.glimpse.stop_prior_weight = 0.2;
  return config;
}

std::vector<std::string> learned_stops() {
  std::vector<std::string> names = stop_kinds();
  std::erase_if(names, [](const std::string& name) { return !find_stop_kind(name).learned(); });
  return names;
}

struct StoppingPlayer {
  explicit StoppingPlayer(const AgentConfig& config, int episodes = kEpisodes, int rollouts = 1)
      : model(config, kTinySpec),
        parameters(zeros<1>(model.layout().size())),
        rollout(model, tiny_environment(episodes, rollouts)) {
    randomize(flat(parameters), model.layout(), 0.7F, 9);
  }

  void play(RolloutRequest request) {
    request.classify_every_step = true;
    rollout.run(flat(parameters), request);
  }
  const float* probabilities(int t, int b) const { return &rollout.answer->probabilities(t, b, 0); }
  int most_probable(int t, int b) const {
    const float* p = probabilities(t, b);
    return static_cast<int>(std::max_element(p, p + kTinyClasses) - p);
  }
  double log_odds(int t, int b) const {
    const double p = probabilities(t, b)[most_probable(t, b)];
    return std::log(p / (1.0 - p));
  }
  // lambda_t by the parameters, in double precision.
  double halting(int t, int b) {
    const int steps = rollout.core.steps;
    if (t == steps - 1) return 1.0;
    const std::span<const float> all = flat(std::as_const(parameters));
    const std::span<const float> w = values_of(all, find_parameter(model.layout(), "stop.weight"));
    double z = values_of(all, find_parameter(model.layout(), "stop.bias"))[0];
    const float* h = rollout.core.state(t + 1).row(b);
    for (std::size_t i = 0; i < w.size(); ++i) z += static_cast<double>(w[i]) * h[i];
    z += values_of(all, find_parameter(model.layout(), "stop.sureness"))[0] * log_odds(t, b);
    return 1.0 / (1.0 + std::exp(-z));
  }

  Model model;
  Tensor<1> parameters;
  Rollout rollout;
};

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
        double going_on = 1.0;
        int looks = 0;
        do going_on *= 1.0 - player.halting(looks, b);
        while (++looks < 3 && 1.0 - going_on <= threshold);
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

// ---- What it is worth ----

constexpr int kLooks = 3, kWays = 4;  // to stop or not after each of the first two looks

// The objective of an episode: the expected reward of the answer, less the price of its looks.
double worth(const StoppingPlayer& player, const std::string& reward, int t, int b, double price) {
  const int label = player.rollout.environment->facts()[b].label;
  const double answer =
      reward == "correct" ? player.most_probable(t, b) == label : player.probabilities(t, b)[label];
  return answer - price * t;
}

// The gradient of the head, by its sampled estimator in expectation over all decisions of an
// episode whose looks are fixed.
std::vector<double> estimated_stop_gradient(const AgentConfig& config) {
  StoppingPlayer player(config, kWays, kWays);
  Tensor<2> decisions = zeros<2>(kLooks, kWays);
  for (int b = 0; b < kWays; ++b) {
    decisions(0, b) = static_cast<float>(b % 2);
    decisions(1, b) = static_cast<float>(b / 2);
  }
  player.play({.stops = &decisions});
  CreditAssignment credit(player.model, kWays);
  const Advantage& advantage = find_advantage(config.reinforce.advantage);
  credit.observe(player.rollout, flat(player.parameters), advantage.reads_baseline);
  const std::vector<double> averages = {0.4, 0.3, 0.2};
  credit.estimate(advantage, 1, averages);
  for (int b = 0; b < kWays; ++b) {
    double chance = 1.0;
    for (int t = 0; t < 2; ++t)
      chance *= decisions(t, b) == 1.0F ? player.halting(t, b) : 1.0 - player.halting(t, b);
    for (int t = 0; t < 2; ++t) credit.stops(t, b) *= static_cast<float>(chance);
  }
  Tensor<1> gradient = zeros<1>(player.model.layout().size());
  const Tensor<2> none = zeros<2>(kLooks, kWays);
  player.rollout.answer->backward(flat(gradient),
                                  {.advantages = matrix(none), .stops = matrix(credit.stops)},
                                  flat(player.parameters));
  std::vector<double> head;
  for (const char* name : {"stop.weight", "stop.bias", "stop.sureness"})
    for (const float g : values_of(flat(gradient), find_parameter(player.model.layout(), name)))
      head.push_back(-g);  // the loss is the negative reward
  return head;
}

// The slope of the objective by the parameters of the head.
std::vector<double> exact_stop_gradient(const AgentConfig& config) {
  StoppingPlayer player(config, kWays, kWays);
  player.play({});
  const std::string reward = config.reinforce.reward == "correct" ? "correct" : "probability";
  std::vector<double> head(config.model.hidden_size + 2, 0.0);
  double going_on = 1.0, following = 0.0;
  // d/dz_t = reach_t lambda_t (1 - lambda_t) (worth of stopping - worth of going on)
  for (int t = 0; t < kLooks - 1; ++t) {
    const double lambda = player.halting(t, 0);
    following = 0.0;
    double rest = 1.0;
    for (int later = t + 1; later < kLooks; ++later) {
      following += rest * player.halting(later, 0) *
                   worth(player, reward, later, 0, config.glimpse.stop_price);
      rest *= 1.0 - player.halting(later, 0);
    }
    const double slope = going_on * lambda * (1.0 - lambda) *
                         (worth(player, reward, t, 0, config.glimpse.stop_price) - following);
    for (int i = 0; i < config.model.hidden_size; ++i)
      head[i] += slope * player.rollout.core.state(t + 1)(0, i);
    head[config.model.hidden_size] += slope;
    head.back() += slope * player.log_odds(t, 0);
    going_on *= 1.0 - lambda;
  }
  return head;
}

TEST_CASE(
    "the sampled estimator has the gradient of the expected reward, over all stopping times") {
  AgentConfig config = stopping_config("sampled");
  config.glimpse.kind = "center";  // fixed looks
  config.reinforce.rollouts = kWays;
  config.reinforce.entropy = 0.0;
  config.training.step_loss = 0.0;
  for (const std::string& advantage : advantage_estimators()) {
    if (find_advantage(advantage).min_rollouts > 1) continue;  // needs the other rollouts
    for (const std::string& reward : reward_kinds()) {
      CAPTURE(advantage);
      CAPTURE(reward);
      config.reinforce.advantage = advantage;
      config.reinforce.reward = reward;
      config.reinforce.trace = 1.0;
      CHECK(relative_error(estimated_stop_gradient(config), exact_stop_gradient(config)) < 1e-4);
      AgentConfig free = config;
      free.glimpse.stop_price = 0.0;
      CHECK(relative_error(estimated_stop_gradient(free), exact_stop_gradient(config)) > 1e-2);
    }
  }
}

// The locator's gradient by REINFORCE, in expectation over all pairs of looks at a grid, and the
// slope of the expected reward, both by every third parameter of the locator.
struct LookGradients {
  std::vector<double> estimated, exact;
};

LookGradients look_gradients(AgentConfig config) {
  constexpr int kPlaces = 6, kPairs = kPlaces * kPlaces;
  config.glimpse.kind = "hard_categorical";
  config.glimpse.first = "learned";
  config.glimpse.num_glimpses = 2;
  config.reinforce.rollouts = kPairs;
  config.reinforce.weight = 1.0;
  config.reinforce.entropy = 0.0;
  const bool sampled = find_stop_kind(config.glimpse.stop).sampled;
  // Of a sampled stop also both decisions after the first look.
  const int ways = sampled ? 2 : 1, episodes = kPairs * ways;
  StoppingPlayer player(config, episodes, episodes);
  Tensor<3> actions = zeros<3>(2, episodes, kPlaces);
  Tensor<2> decisions = zeros<2>(2, episodes);
  for (int b = 0; b < episodes; ++b) {
    actions(0, b, b % kPairs / kPlaces) = 1.0F;
    actions(1, b, b % kPlaces) = 1.0F;
    decisions(0, b) = static_cast<float>(b / kPairs);
  }
  const auto play = [&] { player.play({.replay = &actions, .stops = &decisions}); };
  const auto chance = [&](int b) {
    return static_cast<double>(player.rollout.look->decisions(0, b, b % kPairs / kPlaces)) *
           player.rollout.look->decisions(1, b, b % kPlaces);
  };
  play();
  CreditAssignment credit(player.model, episodes);
  const Advantage& advantage = find_advantage(config.reinforce.advantage);
  credit.observe(player.rollout, flat(player.parameters), advantage.reads_baseline);
  const std::vector<double> averages = {0.4, 0.3};
  credit.estimate(advantage, 1, averages);
  for (int b = 0; b < episodes; ++b)
    for (int t = 0; t < 2; ++t) {
      double weight = chance(b);
      if (sampled)
        weight *= decisions(0, b) == 1.0F ? player.halting(0, b) : 1.0 - player.halting(0, b);
      credit.advantages(t, b) *= static_cast<float>(weight);
    }
  Tensor<1> gradient = zeros<1>(player.model.layout().size());
  player.rollout.look->loss_backward(flat(gradient), {.advantages = matrix(credit.advantages)},
                                     flat(player.parameters));
  const auto objective = [&] {
    play();
    double sum = 0.0;
    for (int b = 0; b < kPairs; ++b) {
      const double lambda = player.halting(0, b);
      const auto worth_at = [&](int t) {
        return worth(player, "probability", t, b, config.glimpse.stop_price);
      };
      sum += chance(b) * (lambda * worth_at(0) + (1.0 - lambda) * worth_at(1));
    }
    return sum;
  };
  LookGradients result;
  for (const Parameter& p : player.model.layout().parameters()) {
    if (!p.name.starts_with("locator.")) continue;
    const std::span<float> weights = values_of(flat(player.parameters), p);
    for (std::size_t i = 0; i < weights.size(); i += 3) {
      const float before = weights[i];
      weights[i] = before + 1e-2F;
      const double above = objective();
      weights[i] = before - 1e-2F;
      const double below = objective();
      weights[i] = before;
      result.exact.push_back((above - below) / 2e-2);
      result.estimated.push_back(-values_of(flat(gradient), p)[i]);
    }
  }
  return result;
}

TEST_CASE("looks get the credit of what is expected of an agent that may stop after them") {
  for (const std::string& stop : learned_stops())
    for (const std::string& advantage : advantage_estimators()) {
      if (find_advantage(advantage).min_rollouts > 1) continue;
      for (const char* reward : {"probability", "gain"}) {
        CAPTURE(stop);
        CAPTURE(advantage);
        CAPTURE(reward);
        AgentConfig config = stopping_config(stop);
        config.reinforce.advantage = advantage;
        config.reinforce.reward = reward;
        config.reinforce.trace = 1.0;
        const LookGradients gradients = look_gradients(config);
        CHECK(relative_error(gradients.estimated, gradients.exact) < 5e-3);
      }
    }
}

// ---- Gradients ----

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
    for (int t = 0; t < kLooks; ++t) {
      const double lambda = player.halting(t, b);
      const double p = going_on * lambda;
      const double q = prior_going_on * (t == kLooks - 1 ? 1.0 : config.glimpse.stop_prior);
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

TEST_CASE("an agent without later looks or without one class cannot stop") {
  AgentConfig config = stopping_config("expected");
  const auto message = [&](AnswerKind answer) {
    return message_of<SettingError>([&] { check(config, answer); });
  };
  CHECK(message(AnswerKind::sequence) ==
        "attention.glimpse.stop: expected needs a task whose answer is one class; allowed for "
        "sequences: none");
  CHECK(message(AnswerKind::actions) ==
        "attention.glimpse.stop: expected needs a task whose answer is one class; allowed for "
        "actions: none");
  config.glimpse.num_glimpses = 1;
  CHECK(message(AnswerKind::one_class) ==
        "attention.glimpse.stop: expected needs attention.glimpse.num_glimpses > 1, not 1");
  config.glimpse.stop = "late";
  CHECK(message_of<InputError>([&] { check(config, AnswerKind::one_class); }) ==
        "unknown attention.glimpse.stop 'late'; allowed: none, confidence, sampled, expected");
}

}  // namespace
}  // namespace saccade
