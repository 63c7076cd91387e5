// The losses of an agent that answers a sequence and may stop, and their gradients: that of its
// decisions by enumeration of all stopping times.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "tests/agent/slopes.h"
#include "tests/agent/stop_gradients.h"
#include "tests/agent/stopping_speaker.h"

namespace saccade {
namespace {

double label_loss(const LoneDecoder& lone, const SceneFacts& facts, int b) {
  double sum = 0.0;
  for (int j = 0; j < facts.num_symbols; ++j)
    sum -= std::log(lone.memory->probabilities(j, b, facts.symbols[j]));
  return sum;
}

// The mean over the symbols of the label.
double value_of_sequence(const LoneDecoder& lone, const SceneFacts& facts,
                         const std::string& reward, int b) {
  double sum = 0.0;
  for (int j = 0; j < facts.num_symbols; ++j)
    sum += find_reward(reward).of_answer(
        lone.said[b][j] == facts.symbols[j], lone.memory->probabilities(j, b, facts.symbols[j]),
        chance_of(static_cast<int>(lone.memory->logits.shape()[2])), {});
  return sum / facts.num_symbols;
}

TEST_CASE("sequence agents: the sampled estimator has the gradient over all stopping times") {
  AgentConfig config = fixed_looks(stopping_speaker("sampled"));
  for (const std::string& advantage : advantage_estimators()) {
    if (find_advantage(advantage).min_rollouts > 1) continue;  // needs the other rollouts
    for (const std::string& reward : judged_rewards()) {
      CAPTURE(advantage);
      CAPTURE(reward);
      config.reinforce.advantage = advantage;
      config.reinforce.reward = reward;
      config.reinforce.trace = 1.0;
      StoppingPlayer player(config, kWays, kWays, transcribe_task());
      player.play({});
      const std::vector<LoneDecoder> after = decoders_after_each(player, true);
      const std::vector<double> exact = exact_stop_gradient(player, [&](int t) {
        return value_of_sequence(after[t], player.rollout.environment->facts()[0], reward, 0);
      });
      CHECK(relative_error(estimated_stop_gradient(config, transcribe_task()), exact) < 1e-4);
      AgentConfig free = config;
      free.glimpse.stop_price = 0.0;
      CHECK(relative_error(estimated_stop_gradient(free, transcribe_task()), exact) > 1e-2);
    }
  }
}

TEST_CASE("sequence agents: the loss is that of the sequence at the sampled stop") {
  const Task task = transcribe_task();
  const AgentConfig config = stopping_speaker("sampled");
  const Played played(config, task.spec, task.environments);
  StoppingPlayer player(config, kEpisodes, config.reinforce.rollouts, task);
  player.parameters = played.parameters;
  player.play({.first_scene = kFirstScene, .seed = 11, .update = 2, .progress = 0.0});
  const std::vector<LoneDecoder> after = decoders_after_each(player, true);
  double expected = 0.0;
  std::set<int> looks;
  for (int b = 0; b < kEpisodes; ++b) {
    const int stop = played.lane.rollout().stopped_at(b);
    looks.insert(stop);
    expected += config.training.classifier_weight *
                label_loss(after[stop - 1], player.rollout.environment->facts()[b], b);
  }
  CHECK(looks.size() > 1);
  CHECK(played.sums.classifier == doctest::Approx(expected).epsilon(1e-5));
}

TEST_CASE("sequence agents: the expected loss is the sum over all stopping times") {
  const Task task = transcribe_task();
  const AgentConfig config = stopping_speaker("expected");
  const Played played(config, task.spec, task.environments);
  StoppingPlayer player(config, kEpisodes, config.reinforce.rollouts, task);
  player.parameters = played.parameters;
  player.play({.first_scene = kFirstScene, .seed = 11, .update = 2, .progress = 0.0});
  const std::vector<LoneDecoder> after = decoders_after_each(player, true);
  double answers = 0.0, looks = 0.0;
  for (int b = 0; b < kEpisodes; ++b) {
    double reach = 1.0;
    for (int t = 0; t < player.steps(); ++t) {
      const double share = reach * player.halting(t, b);
      answers += share * label_loss(after[t], player.rollout.environment->facts()[b], b);
      looks += share * t;
      reach *= 1.0 - player.halting(t, b);
    }
  }
  CHECK(played.sums.classifier ==
        doctest::Approx(config.training.classifier_weight * answers).epsilon(1e-5));
  AgentConfig without_prior = config;
  without_prior.glimpse.stop_prior_weight = 0.0;
  CHECK(Played(without_prior, task.spec, task.environments).sums.penalty ==
        doctest::Approx(config.glimpse.stop_price * looks).epsilon(1e-5));
}

TEST_CASE("sequence agents: the gradient of a lane that may stop is the slope of its losses") {
  std::vector<AgentConfig> all;
  for (const std::string& stop : learned_stops()) {
    for (const std::string& hidden : hidden_kinds()) {
      if (!hidden_reads_a_state(hidden)) continue;
      all.push_back(stopping_speaker(stop));
      all.back().hidden.kind = hidden;
    }
    for (const std::string& kind : glimpse_kinds()) {
      AgentConfig config = stopping_speaker(stop);
      config.glimpse.kind = kind;
      if (kind == "soft_grid") config.glimpse.expect = "features";
      if (takes_glimpses(config)) all.push_back(config);
    }
    for (const std::string& advantage : advantage_estimators())
      for (const char* reward : {"probability", "gain"}) {
        all.push_back(stopping_speaker(stop));
        set_credit(all.back(), advantage, reward);
      }
  }
  const Task task = transcribe_task();
  for (const AgentConfig& config : all) {
    CAPTURE(config.glimpse.stop);
    CAPTURE(config.glimpse.kind);
    CAPTURE(config.hidden.kind);
    CAPTURE(config.reinforce.advantage);
    CAPTURE(config.reinforce.reward);
    check_slopes(config, task.spec, task.environments);
  }
}

TEST_CASE("sequence agents: each loss of a stop reaches its parts") {
  const Task task = transcribe_task();
  const auto reached = [&](const std::string& stop, double classifier, double reinforce,
                           double price) {
    AgentConfig config = stopping_speaker(stop);
    config.training.classifier_weight = classifier;
    config.reinforce.entropy = config.reinforce.baseline_weight = 0.0;
    config.reinforce.weight = reinforce;
    config.glimpse.stop_price = price;
    config.glimpse.stop_prior_weight = 0.0;
    return reached_parts(Played(config, task.spec, task.environments));
  };
  using Parts = std::set<std::string>;
  CHECK(reached("sampled", 1, 0, 1) == Parts{"core", "decoder", "glimpse"});
  CHECK(reached("sampled", 0, 1, 0) == Parts{"locator", "stop"});
  CHECK(reached("expected", 1, 0, 0) == Parts{"core", "decoder", "glimpse", "stop"});
  CHECK(reached("expected", 0, 0, 1) == Parts{"core", "glimpse", "stop"});
}

}  // namespace
}  // namespace saccade
