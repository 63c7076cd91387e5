// Gradients of a lane against the slopes of its losses, for every way of looking; and which loss
// sends gradient where.
#include <doctest/doctest.h>

#include "tests/agent/agents.h"
#include "tests/agent/slopes.h"

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

TEST_CASE("looks: the gradient of every way of looking is the slope of the losses") {
  // Every agent with every first glimpse, and with one alone, cycling through the cores.
  const std::vector<std::string> cores = core_kinds(), firsts = first_glimpses();
  std::size_t now = 0;
  for (const auto& [name, agent] : every_agent(busy_config("rnn")))
    for (const std::string& first : firsts)
      for (const int num_glimpses : {1, 3}) {
        AgentConfig config = agent;
        config.glimpse.first = first;
        config.glimpse.num_glimpses = num_glimpses;
        config.model.core = cores[now++ % cores.size()];
        CAPTURE(name);
        CAPTURE(first);
        CAPTURE(num_glimpses);
        CAPTURE(config.model.core);
        check_slopes(config);
      }
}

TEST_CASE("looks: the gradient is the slope in colour, on a canvas that is not square") {
  for (const auto& [name, config] : every_agent(busy_config("rnn"))) {
    CAPTURE(name);
    check_slopes(config, kColourSpec, colour_environment);
  }
}

TEST_CASE("looks: the gradient is the slope for every point with a zoom, and every first glimpse") {
  std::size_t points = 0;
  for (const auto& [name, agent] : every_zoomed_agent(busy_config("gru")))
    for (const std::string& first : first_glimpses()) {
      AgentConfig config = agent;
      config.glimpse.first = first;
      config.glimpse.learn_std = find_glimpse_kind(config.glimpse.kind).has_std;
      CAPTURE(name);
      CAPTURE(first);
      check_slopes(config, kTinySpec, zoomed_environment);
      points += 1;
    }
  CHECK(points >= 8 * first_glimpses().size());
}

TEST_CASE("looks: a zoom receives gradient from whatever its location does") {
  for (const auto& [name, agent] : every_zoomed_agent(busy_config("gru"))) {
    if (find_glimpse_kind(agent.glimpse.kind).learning == GlimpseKind::Learning::none) continue;
    CAPTURE(name);
    AgentConfig config = agent;
    config.glimpse.first = "learned";
    const Played played(config, kTinySpec, zoomed_environment);
    for (const Parameter& p : played.model.layout().parameters()) {
      if (p.name != "locator.mean.bias" && p.name != "locator.first") continue;
      CAPTURE(p.name);
      REQUIRE(p.cols == 3);
      for (const float g : values_of(flat(played.gradient), p)) CHECK(g != 0.0F);
    }
  }
}

TEST_CASE("looks: the gradient of a point with a pattern is the slope, for every first glimpse") {
  for (const std::string& first : first_glimpses()) {
    CAPTURE(first);
    AgentConfig config = busy_config("gru");
    config.glimpse.kind = "soft_point";
    config.glimpse.first = first;
    config.glimpse.std = {0.2, 0.2, 1.0};
    config.glimpse.spread = 1.0;
    check_slopes(config);
  }
}

// A point that is sampled and learned, if at all, by its score alone.
bool is_plain_point(const AgentConfig& config) {
  const GlimpseKind& kind = find_glimpse_kind(config.glimpse.kind);
  return config.model.kind == "recurrent" && kind.sees_motion && !kind.has_candidates &&
         kind.learning != GlimpseKind::Learning::backpropagation &&
         config.reinforce.estimator == "score";
}

AgentConfig by_path(const std::string& estimator) {
  AgentConfig config = busy_config("lstm");
  config.glimpse.first = "learned";
  config.glimpse.learn_std = true;
  config.reinforce.estimator = estimator;
  return config;
}

TEST_CASE("looks: the gradient of a learned std, along paths and through a gate, is the slope") {
  for (const std::string estimator : {"pathwise", "both"})
    for (const bool gated : {false, true}) {
      CAPTURE(estimator);
      CAPTURE(gated);
      AgentConfig config = by_path(estimator);
      if (gated) config.input = {.kind = "gate", .alpha = 2.0, .gain = 8.0};
      check_slopes(config);
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
    if (is_plain_point(agent)) continue;  // test_gradients.cpp
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
