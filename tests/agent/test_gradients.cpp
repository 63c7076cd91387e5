// Gradients of a lane against the slopes of its losses, and which loss sends gradient to which
// parameters.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "agent/credit/reward.h"
#include "agent/looking/context_network.h"
#include "agent/looking/glimpse_input.h"
#include "tests/agent/slopes.h"

namespace saccade {
namespace {

std::vector<AgentConfig> configurations() {
  std::vector<AgentConfig> all;
  for (const std::string& core : core_kinds())
    for (const std::string& first : first_glimpses())
      for (const bool learn_std : {false, true}) {
        AgentConfig config = busy_config(core);
        config.glimpse.first = first;
        config.glimpse.learn_std = learn_std;
        config.reinforce.advantage = learn_std ? "learned" : "leave_one_out";
        all.push_back(config);
      }
  for (const std::string& advantage : advantage_estimators())
    for (const std::string& reward : judged_rewards())
      for (const char* kind : {"hard_gaussian", "hard_categorical"}) {
        AgentConfig config = busy_config("rnn");
        config.glimpse.kind = kind;
        set_credit(config, advantage, reward);
        all.push_back(config);
      }
  for (const std::string& critic : critic_kinds())
    for (const char* advantage : {"learned", "gae"}) {
      AgentConfig config = busy_config("gru");
      set_credit(config, advantage, "gain");
      config.reinforce.critic = critic;
      config.reinforce.critic_hidden = 7;
      all.push_back(config);
    }
  for (const int num_glimpses : {1, 2})
    for (const std::string& context : contexts()) {
      AgentConfig config = busy_config("lstm");
      config.glimpse.first = "learned";
      config.glimpse.num_glimpses = num_glimpses;
      config.model.context = context;
      all.push_back(config);
    }
  for (const std::string& first : first_glimpses()) {
    AgentConfig config = busy_config("rnn");
    config.glimpse.first = first;
    config.model.context = "thumbnail";
    all.push_back(config);
  }
  for (const std::string& network : glimpse_networks()) {
    AgentConfig config = busy_config("gru");
    config.model.glimpse_network = network;
    all.push_back(config);
  }
  AgentConfig last_step_only = busy_config("gru");
  last_step_only.training.step_loss = 0.0;
  all.push_back(last_step_only);
  return all;
}

std::string describe(const AgentConfig& config) {
  return config.model.core + ", " + config.glimpse.kind + ", context " + config.model.context +
         ", first " + config.glimpse.first + (config.glimpse.learn_std ? ", learned std, " : ", ") +
         config.reinforce.advantage + ", " + config.reinforce.critic + ", " +
         config.model.glimpse_network + ", " + config.reinforce.reward + ", T " +
         std::to_string(config.glimpse.num_glimpses);
}

TEST_CASE("the gradient of a lane is the slope of its losses") {
  for (const AgentConfig& config : configurations()) {
    CAPTURE(describe(config));
    check_slopes(config);
  }
}

TEST_CASE("each loss sends gradient where the comment above Lane says, and nowhere else") {
  struct Term {
    const char* name;
    double classifier, step, reinforce, entropy, baseline;  // loss weights
    std::set<std::string> reached;
  };
  const std::set<std::string> seeing = {"glimpse", "core", "classifier"};
  const std::set<std::string> looking = {"locator", "locator.first", "locator.log_std"};
  const Term terms[] = {{"nothing", 0, 0, 0, 0, 0, {}},
                        {"cross-entropy of the last step", 1, 0, 0, 0, 0, seeing},
                        {"cross-entropy of earlier steps", 0, 1, 0, 0, 0, seeing},
                        {"REINFORCE", 0, 0, 1, 0, 0, looking},
                        {"entropy", 0, 0, 0, 1, 0, {"locator.log_std"}},
                        {"baseline", 0, 0, 0, 0, 1, {"baseline"}}};
  for (const std::string& core : core_kinds()) {
    for (const Term& term : terms) {
      CAPTURE(core);
      CAPTURE(term.name);
      AgentConfig config = busy_config(core);
      config.glimpse.first = "learned";
      config.glimpse.learn_std = true;
      config.training.classifier_weight = term.classifier;
      config.training.step_loss = term.step;
      config.reinforce.weight = term.reinforce;
      config.reinforce.entropy = term.entropy;
      config.reinforce.baseline_weight = term.baseline;
      CHECK(reached_parts(Played(config)) == term.reached);
    }
  }
}

TEST_CASE("a policy that does not learn gets no gradient, and neither does its baseline") {
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    AgentConfig config = busy_config("rnn");
    config.glimpse.kind = kind;
    const std::set<std::string> parts = reached_parts(Played(config));
    using enum GlimpseKind::Learning;
    const GlimpseKind::Learning learning = find_glimpse_kind(kind).learning;
    CHECK(parts.contains("locator") == (learning != none));
    CHECK(parts.contains("baseline") == (learning == reinforce));
    CHECK(parts.contains("core"));
  }
}

TEST_CASE("the padding between parameters stays zero") {
  for (const std::string& core : core_kinds()) {
    Played played(busy_config(core));
    Tensor<1> gradient = played.gradient;
    for (const Parameter& p : played.model.layout().parameters())
      std::ranges::fill(values_of(flat(gradient), p), 0.0F);
    CHECK(std::ranges::all_of(gradient, [](float g) { return g == 0.0F; }));
  }
}

}  // namespace
}  // namespace saccade
