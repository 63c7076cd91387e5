// Gradients of a lane with attention over its inputs (the gate) and its states against the slopes
// of its losses; and which loss sends gradient where.
#include <doctest/doctest.h>

#include "tests/agent/agents.h"
#include "tests/agent/slopes.h"
#include "tests/agent/tasks.h"
#include "tests/attention/hidden_configs.h"

namespace saccade {
namespace {

// With a mean weight of 1 on each feature.
InputConfig gate(bool learn_alpha, int features = 8) {
  return {.kind = "gate",
          .alpha = 1.7,
          .learn_alpha = learn_alpha,
          .gain = static_cast<double>(features)};
}

TEST_CASE("state attention: the gradient of every read is the slope of the losses") {
  // Cycles through the ways of looking, cores, masks, gates and losses.
  const std::vector<std::string> cores = core_kinds();
  const char* const kinds[] = {"hard_gaussian", "soft_grid", "hard_categorical", "soft_gaussian",
                               "soft_point"};
  const char* const masks[] = {"", "01101", "11011"};
  std::size_t now = 0;
  for (const auto& [name, hidden] : every_hidden_config()) {
    if (hidden.output == "context" && hidden.attend.area == "local") continue;
    AgentConfig config = busy_config(cores[now % cores.size()]);
    config.glimpse.kind = kinds[now % std::size(kinds)];
    config.glimpse.num_glimpses = 5;
    config.hidden = hidden;
    config.hidden.attend.window = 2;
    config.hidden.mask = masks[now % std::size(masks)];
    if (now % 2 == 0) config.input = gate(now % 4 == 0);
    if (now % 7 == 0) config.training.step_loss = 0.0;
    CAPTURE(name);
    CAPTURE(config.model.core);
    CAPTURE(config.glimpse.kind);
    CAPTURE(config.hidden.mask);
    CAPTURE(config.input.kind);
    check_slopes(config);
    ++now;
  }
}

TEST_CASE("state attention: the gradient is the slope for episodes of different lengths") {
  const Task bag = bag_task();
  for (const std::string& kind : hidden_kinds())
    for (const char* look : {"hard_gaussian", "hard_categorical"})
      for (const double step_loss : {0.0, 0.4}) {
        AgentConfig config = busy_config("gru");
        config.glimpse.kind = look;
        config.glimpse.num_glimpses = 4;
        config.hidden = {.kind = kind, .query = "mean", .attend = {.score_hidden = 6}, .hops = 2};
        config.hidden.penalty = 5.0;  // as steep as the cross-entropy
        config.training.step_loss = step_loss;
        CAPTURE(kind);
        CAPTURE(look);
        CAPTURE(step_loss);
        check_slopes(config, bag.spec, bag.environments);
      }
  const auto environment = bag.environments(kEpisodes, 2);
  environment->reset(kFirstScene);
  std::set<int> lengths;
  for (const SceneFacts& facts : environment->facts()) lengths.insert(facts.length);
  CHECK(lengths.size() > 1);
}

TEST_CASE("input gate: the gradient is the slope for every way of looking") {
  const std::vector<std::string> cores = core_kinds();
  std::size_t now = 0;
  for (const auto& [name, agent] : every_agent(busy_config("rnn"))) {
    if (agent.model.kind != "recurrent") continue;
    for (const bool learn_alpha : {false, true}) {
      AgentConfig config = agent;
      config.model.core = cores[now++ % cores.size()];
      config.input = gate(learn_alpha, Model(config, kTinySpec).look().feature_size);
      CAPTURE(name);
      CAPTURE(learn_alpha);
      CAPTURE(config.model.core);
      check_slopes(config);
    }
  }
}

TEST_CASE("state attention and gate: the gradient is the slope for a whole canvas") {
  for (const std::array<int, 2> size : {std::array{0, 0}, {5, 4}, {12, 7}})
    for (const bool gated : {false, true})
      for (const char* hidden : {"last", "attend", "self"}) {
        AgentConfig config = busy_config(gated ? "lstm" : "rnn");
        config.glimpse.kind = "whole";
        config.glimpse.size = size;
        config.hidden = {.kind = hidden, .attend = {.score_hidden = 6}};
        if (gated) config.input = gate(true, Model(config, kTinySpec).look().feature_size);
        CAPTURE(size[0]);
        CAPTURE(gated);
        CAPTURE(hidden);
        check_slopes(config);
      }
}

TEST_CASE("each loss reaches the gate and the read of the states as the comment above Lane says") {
  struct Term {
    const char* name;
    double classifier, reinforce, baseline, penalty;  // loss weights
    std::set<std::string> reached;
  };
  const std::set<std::string> seeing = {"glimpse", "gate", "core", "hidden"};
  const std::set<std::string> answering = {"glimpse", "gate", "core", "hidden", "classifier"};
  const Term terms[] = {{"nothing", 0, 0, 0, 0, {}},
                        {"cross-entropy", 1, 0, 0, 0, answering},
                        {"REINFORCE", 0, 1, 0, 0, {"locator"}},
                        {"baseline", 0, 0, 1, 0, {"baseline"}},
                        {"penalty of the rows", 0, 0, 0, 1, seeing}};
  for (const Term& term : terms) {
    CAPTURE(term.name);
    AgentConfig config = busy_config("rnn");
    config.input = gate(true);
    config.hidden = {.kind = "self", .attend = {.score_hidden = 6}, .penalty = term.penalty};
    config.training.classifier_weight = term.classifier;
    config.training.step_loss = 0.0;
    config.reinforce.weight = term.reinforce;
    config.reinforce.entropy = 0.0;
    config.reinforce.baseline_weight = term.baseline;
    CHECK(reached_parts(Played(config)) == term.reached);
  }
}

TEST_CASE("the row penalty counts once, whether or not answers after earlier looks are trained") {
  AgentConfig config = busy_config("rnn");
  config.hidden = {.kind = "self", .attend = {.score_hidden = 6}, .hops = 2, .penalty = 0.3};
  config.training.step_loss = 0.0;
  const double once = Played(config).sums.penalty;
  CHECK(once > 0.0);
  config.training.step_loss = 0.4;
  CHECK(Played(config).sums.penalty == once);
}

}  // namespace
}  // namespace saccade
