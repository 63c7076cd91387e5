// The locator's context from the canvas: what it reads, and which losses train it.
#include "agent/looking/context_network.h"

#include <doctest/doctest.h>

#include "agent/learning/checkpoint.h"
#include "base/error.h"
#include "tests/agent/agents.h"
#include "tests/agent/slopes.h"
#include "tests/support.h"

namespace saccade {
namespace {

// Every agent with a context.
std::vector<NamedAgent> every_agent_with_context(const AgentConfig& base) {
  std::vector<NamedAgent> all = every_agent(base);
  std::erase_if(all, [](const NamedAgent& agent) { return agent.config.model.context == "none"; });
  REQUIRE(all.size() >= 8);
  return all;
}

bool is_of_context(const Parameter& p) { return p.name.starts_with("locator.context."); }

// The same agent with a different context network.
Tensor<1> told_otherwise(const Model& model, Tensor<1> parameters) {
  for (const Parameter& p : model.layout().parameters())
    if (is_of_context(p))
      for (float& value : values_of(flat(parameters), p)) value = 0.3F - 1.5F * value;
  return parameters;
}

std::vector<float> first_decisions(const Rollout& rollout) {
  return values_of(ConstMatrix(step(rollout.look->decisions, 0)));
}

bool is_equal_in_all_episodes(const Rollout& rollout) {
  const ConstMatrix first = step(rollout.look->decisions, 0);
  for (int b = 1; b < first.rows; ++b)
    if (!std::equal(first.row(0), first.row(0) + first.cols, first.row(b))) return false;
  return true;
}

TEST_CASE("without a context it has no parameters, and with one only those it needs") {
  for (const auto& [name, config] : every_agent_with_context(tiny_config())) {
    CAPTURE(name);
    for (const std::string& first : first_glimpses()) {
      CAPTURE(first);
      AgentConfig with = config;
      with.glimpse.first = first;
      AgentConfig without = with;
      without.model.context = "none";
      std::set<std::string> names, more;
      const Model model(with, kTinySpec), other(without, kTinySpec);
      for (const Parameter& p : other.layout().parameters()) names.insert(p.name);
      for (const Parameter& p : model.layout().parameters()) more.insert(p.name);
      names.erase("locator.first");
      names.insert(
          {"locator.context.weight", "locator.context.bias", "locator.context.hidden.weight"});
      CHECK(more == names);
      CHECK(find_parameter(model.layout(), "locator.context.weight").rows == 4 * 4);
      CHECK(find_parameter(model.layout(), "locator.context.weight").cols == 10);
      CHECK(find_parameter(model.layout(), "locator.context.hidden.weight").rows == 10);
      CHECK(find_parameter(model.layout(), "locator.context.hidden.weight").cols == 6);
    }
  }
}

TEST_CASE(
    "a learned first look depends on the canvas with a context, and is the same everywhere "
    "without") {
  AgentConfig base = tiny_config();
  base.glimpse.first = "learned";
  for (const auto& [name, config] : every_agent_with_context(base)) {
    CAPTURE(name);
    CHECK_FALSE(is_equal_in_all_episodes(Played(config).lane.rollout()));
    AgentConfig without = config;
    without.model.context = "none";
    CHECK(is_equal_in_all_episodes(Played(without).lane.rollout()));
  }
}

TEST_CASE("only REINFORCE trains the context of a hard look, not cross-entropy") {
  for (const std::string kind : {"hard_gaussian", "hard_categorical"})
    for (const std::string first : {"random", "learned"})
      for (const double weight : {0.0, 0.7}) {
        CAPTURE(kind);
        CAPTURE(first);
        AgentConfig config = busy_config("gru");
        config.model.context = "thumbnail";
        config.glimpse.kind = kind;
        config.glimpse.first = first;
        config.reinforce.entropy = 0.0;
        config.reinforce.weight = weight;
        const Played played(config);
        for (const Parameter& p : played.model.layout().parameters()) {
          CAPTURE(p.name);
          const std::span<const float> gradient = values_of(flat(played.gradient), p);
          const bool rests = std::ranges::all_of(gradient, [](float g) { return g == 0.0F; });
          if (is_of_context(p)) CHECK(rests == (weight == 0.0));
          if (p.name.starts_with("classifier.")) CHECK_FALSE(rests);
        }
      }
}

TEST_CASE("a context affects the answer only through where the agent looks") {
  AgentConfig base = busy_config("lstm");
  base.glimpse.first = "learned";
  for (const auto& [name, config] : every_agent_with_context(base)) {
    CAPTURE(name);
    const Played played(config);
    const Rollout& before = played.lane.rollout();
    const Tensor<3> actions = before.look->actions;
    Rollout rollout(played.model, tiny_environment(kEpisodes, config.reinforce.rollouts));
    const Tensor<1> other = told_otherwise(played.model, played.parameters);
    RolloutRequest request{.first_scene = kFirstScene,
                           .seed = 11,
                           .update = 2,
                           .progress = 0.0,
                           .replay = &actions,
                           .classify_every_step = true};
    rollout.run(flat(other), request);
    CHECK_FALSE(first_decisions(rollout) == first_decisions(before));
    CHECK(rollout.core.input == before.core.input);  // features and states
    CHECK(rollout.answer->probabilities == before.answer->probabilities);
    for (int t = 0; t < rollout.core.steps; ++t)
      CHECK(values_of(rollout.answer->logits(t)) == values_of(before.answer->logits(t)));
    request.replay = nullptr;
    rollout.run(flat(other), request);
    CHECK_FALSE(rollout.answer->probabilities == before.answer->probabilities);
  }
}

TEST_CASE("a context reads a thumbnail, or the canvas itself if they have the same size") {
  AgentConfig config = busy_config("rnn");
  config.model.context = "thumbnail";
  config.glimpse.first = "learned";
  for (const int size : {1, 5, 12}) {
    CAPTURE(size);
    config.model.context_size = size;
    check_slopes(config);
  }
}

TEST_CASE("a canvas smaller than its thumbnail is refused") {
  AgentConfig config = tiny_config();
  config.model.context_size = 13;
  CHECK(message_of<InputError>([&] { Model(config, kTinySpec); }) == "nothing thrown");
  config.model.context = "thumbnail";
  CHECK(message_of<InputError>([&] { Model(config, kTinySpec); }) ==
        "model.context_size: 13 pixels, where the canvas has 12 x 12; allowed: up to the shorter "
        "side (12)");
  config.model.context_size = 12;
  CHECK(message_of<InputError>([&] { Model(config, kTinySpec); }) == "nothing thrown");
}

TEST_CASE("the multiply-adds of a context agree with a count by hand") {
  // A thumbnail of 16, Hc 10, locator 6: 16*10 + 10*6 forward, once per episode; backward the
  // weights again, plus the gradient of c.
  constexpr std::int64_t kContext = 16 * 10 + 10 * 6, kContextBack = 16 * 10 + 2 * 10 * 6;
  for (const std::string first : {"center", "learned"})
    for (const auto& [name, agent] : every_agent_with_context(tiny_config())) {
      CAPTURE(name);
      CAPTURE(first);
      AgentConfig config = agent;
      config.glimpse.first = first;
      const Model with(config, kTinySpec);
      config.model.context = "none";
      const Model without(config, kTinySpec);
      const LookTraits& look = with.look();
      // The locator places a point's first look, instead of a parameter; H 5 and two outputs.
      const bool placed = first == "learned" && !look.frame && look.num_candidates == 0;
      const std::int64_t locator = placed ? 5 * 6 + 6 * 2 : 0;
      const std::int64_t back = placed ? 5 * 6 + 2 * 6 * 2 : 0;
      CHECK(with.work().forward - without.work().forward == kContext + locator);
      CHECK(with.work().backward - without.work().backward == kContextBack + back);
    }
  AgentConfig config = tiny_config();
  config.glimpse.num_glimpses = 1;  // random: nothing to place
  const Model without(config, kTinySpec);
  config.model.context = "thumbnail";
  CHECK(Model(config, kTinySpec).work().forward == without.work().forward);
}

TEST_CASE("an agent with a context starts with the same weights as one without") {
  const TemporaryFolder folder;
  Workers workers(1);
  AgentConfig config = tiny_config("gru");
  const Model source(config, kTinySpec);
  const Learner learner(source, tiny_environment, 3, workers);
  save_checkpoint(folder.path / "x", learner, "", {});
  config.model.context = "thumbnail";
  const Model model(config, kTinySpec);
  Tensor<1> parameters = zeros<1>(model.layout().size());
  const SharedParameters shared =
      Checkpoint(folder.path / "x").copy_shared(parameters, model.layout());
  CHECK(shared.checkpoint_only.empty());
  CHECK(shared.both.size() == source.layout().parameters().size());
  CHECK(shared.model_only ==
        Names{"locator.context.weight", "locator.context.bias", "locator.context.hidden.weight"});
}

}  // namespace
}  // namespace saccade
