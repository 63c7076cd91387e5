// Gradients of a lane against finite differences of the naive model, for grid attention, windows
// and models that read the whole canvas; and which loss sends gradient where.
#include <doctest/doctest.h>

#include "tests/agent/agents.h"
#include "tests/agent/check_lane.h"

namespace saccade {
namespace {

// In colour, and wider than high.
constexpr ObservationSpec kColourSpec{.glimpse_size = 3 * kTinyGlimpse,
                                      .num_classes = kTinyClasses,
                                      .canvas = {3, 12, 15},
                                      .patch_size = 3};

const Dataset& colour_digits() {
  static const Dataset digits = [] {
    constexpr int kCount = 12, kSide = 6;
    Dataset set = tiny_digits();
    set.images = xt::xtensor<std::uint8_t, 4>::from_shape({kCount, kSide, kSide, 3});
    for (int n = 0; n < kCount; ++n)
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
          for (int c = 0; c < 3; ++c)
            set.images(n, y, x, c) =
                static_cast<std::uint8_t>(tiny_digits().images(n, y, (x + c) % kSide, 0) / (c + 1));
    return set;
  }();
  return digits;
}

std::unique_ptr<Environment> colour_environment(int episodes, int rollouts) {
  const SceneConfig scene{
      .kind = "cluttered", .canvas = {12, 15}, .num_distractors = 2, .distractor_size = 3};
  const SceneMaker scenes(scene, {}, colour_digits(), DigitOrder::shuffled, 7);
  const Retina retina({.patch_size = 3, .scales = 2}, 12, 15, 3);
  return std::make_unique<GlimpseEnvironment>(scenes, retina, episodes, rollouts);
}

TEST_CASE(
    "looks: a lane of every kind agrees with the naive model: forward pass, losses, every "
    "gradient") {
  // Every agent with every first glimpse, cycling through the cores.
  const std::vector<std::string> cores = naive::cores().names(), firsts = first_glimpses();
  std::size_t now = 0;
  for (const auto& [name, agent] : every_agent(busy_config("rnn"))) {
    if (is_point(agent)) continue;  // test_gradients.cpp
    CAPTURE(name);
    ++now;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      AgentConfig config = agent;
      config.glimpse.first = firsts[i];
      config.model.core = cores[(now + i) % cores.size()];
      CAPTURE(config.glimpse.first);
      CAPTURE(config.model.core);
      check_look_lane(config);
    }
  }
}

TEST_CASE("looks: a lane agrees with the naive model for a single glimpse") {
  for (const auto& [name, agent] : every_agent(busy_config("lstm"))) {
    if (is_point(agent)) continue;
    for (const std::string first : {"center", "learned"}) {
      CAPTURE(name);
      CAPTURE(first);
      AgentConfig config = agent;
      config.glimpse.num_glimpses = 1;
      config.glimpse.first = first;
      if (first == "center" && Model(config, kTinySpec).look().smooth) continue;  // at (0, 0) only
      // Such scores of a zero state are uniform, and the expected place is (0, 0).
      const bool even = first == "learned" && config.glimpse.addressing == "content" &&
                        config.glimpse.score != "additive";
      if (even && config.glimpse.kind == "soft_grid" && config.glimpse.expect == "pixels") continue;
      check_look_lane(config);
    }
  }
}

TEST_CASE("looks: a lane agrees with the naive model in colour, on a canvas that is not square") {
  for (const auto& [name, config] : every_agent(busy_config("rnn"))) {
    if (is_point(config)) continue;
    CAPTURE(name);
    check_look_lane(config, kColourSpec, colour_environment);
  }
}

TEST_CASE(
    "looks: a lane agrees with the naive model for a hard choice with every advantage, and a soft "
    "one without penalties") {
  for (const std::string& advantage : advantage_estimators())
    for (const std::string& reward : reward_kinds()) {
      CAPTURE(advantage);
      CAPTURE(reward);
      AgentConfig config = busy_config("rnn");
      config.glimpse.kind = "hard_categorical";
      set_credit(config, advantage, reward);
      check_look_lane(config);
    }
  for (const std::string& critic : critic_kinds()) {
    CAPTURE(critic);
    AgentConfig config = busy_config("rnn");
    config.glimpse.kind = "hard_categorical";
    config.reinforce.critic = critic;
    config.reinforce.critic_hidden = 7;
    check_look_lane(config);
  }
  AgentConfig config = busy_config("rnn");
  config.glimpse.kind = "soft_grid";
  check_look_lane(config);
  config.training.step_loss = 0.0;
  check_look_lane(config);
}

AgentConfig by_path(const std::string& estimator) {
  AgentConfig config = busy_config("lstm");
  config.glimpse.first = "learned";
  config.glimpse.learn_std = true;
  config.reinforce.estimator = estimator;
  return config;
}

TEST_CASE(
    "looks: a lane agrees with the naive model for a Gaussian with path gradients and a learned "
    "std, at every advantage") {
  for (const std::string estimator : {"pathwise", "both"}) {
    CAPTURE(estimator);
    for (const std::string& advantage : advantage_estimators()) {
      CAPTURE(advantage);
      AgentConfig config = by_path(estimator);
      config.reinforce.advantage = advantage;
      check_look_lane(config);
      config.glimpse.first = "random";
      check_look_lane(config);
    }
    AgentConfig config = by_path(estimator);
    config.glimpse.num_glimpses = 1;
    check_look_lane(config);
    config.input = {.kind = "gate", .alpha = 2.0, .gain = 8.0};
    config.glimpse.num_glimpses = 3;
    check_look_lane(config);
  }
}

TEST_CASE(
    "looks: a lane agrees with the naive model for locations whose gradient passes through the "
    "states") {
  for (const auto& [name, agent] : every_agent(busy_config("gru"))) {
    const LookTraits look = Model(agent, kTinySpec).look();
    if (!look.smooth && !look.frame) continue;
    CAPTURE(name);
    AgentConfig config = agent;
    config.glimpse.detach_state = false;
    check_look_lane(config);
  }
}

TEST_CASE("looks: path gradients of the cross-entropy reach a Gaussian's states and std") {
  const std::set<std::string> looking = {"locator", "locator.first", "locator.log_std"};
  std::set<std::string> seeing = looking;
  seeing.insert({"glimpse", "core", "classifier"});
  struct Term {
    const char* name;
    double classifier, reinforce, entropy;  // loss weights
    std::set<std::string> pathwise, both;
  };
  for (const Term& term :
       {Term{"cross-entropy", 1, 0, 0, seeing, seeing}, Term{"REINFORCE", 0, 1, 0, {}, looking},
        Term{"entropy", 0, 0, 1, {"locator.log_std"}, {"locator.log_std"}}})
    for (const std::string estimator : {"pathwise", "both"}) {
      CAPTURE(term.name);
      CAPTURE(estimator);
      AgentConfig config = by_path(estimator);
      config.training.classifier_weight = term.classifier;
      config.training.step_loss = 0.0;
      config.reinforce.weight = term.reinforce;
      config.reinforce.entropy = term.entropy;
      config.reinforce.baseline_weight = 0.0;
      CHECK(reached_parts(Played(config)) == (estimator == "both" ? term.both : term.pathwise));
    }
}

TEST_CASE("looks: each loss of each kind sends gradient where the comment above Lane says") {
  struct Term {
    const char* name;
    double classifier, step, reinforce, entropy, baseline, coverage, rows;  // loss weights
  };
  const Term terms[] = {{"nothing", 0, 0, 0, 0, 0, 0, 0},
                        {"cross-entropy of the last step", 1, 0, 0, 0, 0, 0, 0},
                        {"cross-entropy of earlier steps", 0, 1, 0, 0, 0, 0, 0},
                        {"REINFORCE", 0, 0, 1, 0, 0, 0, 0},
                        {"entropy", 0, 0, 0, 1, 0, 0, 0},
                        {"baseline", 0, 0, 0, 0, 1, 0, 0},
                        {"coverage", 0, 0, 0, 0, 0, 1, 0},
                        {"rows", 0, 0, 0, 0, 0, 0, 1}};
  for (const auto& [name, agent] : every_agent(busy_config("rnn"))) {
    if (is_point(agent)) continue;
    for (const Term& term : terms) {
      CAPTURE(name);
      CAPTURE(term.name);
      AgentConfig config = agent;
      config.glimpse.first = "learned";
      config.training.classifier_weight = term.classifier;
      config.training.step_loss = term.step;
      config.reinforce.weight = term.reinforce;
      config.reinforce.entropy = config.glimpse.entropy = term.entropy;
      config.reinforce.baseline_weight = term.baseline;
      config.glimpse.coverage = term.coverage;
      config.glimpse.row_penalty = term.rows;
      const Played played(config);
      const LookTraits& look = played.model.look();
      const bool hard = look.looks && !look.differentiable;
      const bool scored = look.first_action < look.steps;
      // The choice does not depend on the state then.
      const bool stateless =
          config.glimpse.addressing == "content" && !score_needs_query(config.glimpse.score);
      const bool has_locator =
          std::ranges::any_of(played.model.layout().parameters(),
                              [](const Parameter& p) { return p.name.starts_with("locator"); });
      CHECK(played.model.baseline.has_value() == scored);

      std::set<std::string> expected;
      if (!look.recurrent) {  // a single step has no earlier one
        if (term.classifier > 0) expected = {"canvas", "classifier"};
      } else if (!look.looks) {
        if (term.classifier > 0 || term.step > 0) expected = {"core", "classifier"};
      } else if (hard) {
        if (term.classifier > 0 || term.step > 0) expected = {"glimpse", "core", "classifier"};
        if ((term.reinforce > 0 || term.entropy > 0) && has_locator) expected = {"locator"};
        if (term.baseline > 0) expected = {"baseline"};
      } else {
        const bool answers = term.classifier > 0 || term.step > 0;
        const bool penalised = term.entropy > 0 || term.coverage > 0 || term.rows > 0;
        if (answers || (penalised && look.expects)) expected = {"glimpse", "core"};
        if (!answers && stateless) expected.erase("core");
        if (!expected.empty() && has_locator) expected.insert("locator");
        if (answers) expected.insert("classifier");
        if (scored && term.reinforce > 0) expected = {"locator"};
        if (scored && term.baseline > 0) expected = {"baseline"};
        // A context places the first look instead of a parameter.
        if (look.smooth && expected.contains("locator") && config.model.context == "none")
          expected.insert("locator.first");
      }
      CHECK(reached_parts(played) == expected);
    }
  }
}

}  // namespace
}  // namespace saccade
