// The gradient of a lane against finite differences of the naive model, for attention over a grid,
// for windows and for models that see the whole canvas; and which loss sends gradient where.
#include <doctest/doctest.h>

#include "tests/agent/agents.h"
#include "tests/agent/naive_looks.h"
#include "tests/agent/played.h"

namespace saccade {
namespace {

// In colour, and wider than high.
constexpr Sight kColourSight{.glimpse_size = 3 * kTinyGlimpse,
                             .num_classes = kTinyClasses,
                             .canvas = {3, 12, 15},
                             .patch_size = 3};

const DigitSet& colour_digits() {
  static const DigitSet digits = [] {
    constexpr int kCount = 12, kSide = 6;
    DigitSet set = tiny_digits();
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

naive::Row row_of(ConstMatrix m, int r) { return {m.row(r), m.row(r) + m.cols}; }

// What the lane saw and did, from an environment of the same scenes.
naive::World read_world(const Played& played, Environment& environment) {
  const Model& model = played.model;
  const Rollout& rollout = played.lane.rollout();
  const int count = model.num_candidates();
  environment.reset(kFirstScene);
  Tensor<2> canvases = zeros<2>(kEpisodes, model.canvas().pixels());
  Tensor<3> candidates = zeros<3>(kEpisodes, count, environment.glimpse_size());
  environment.view(matrix(canvases));
  if (count > 0) environment.look_at_all(matrix(model.places), matrix(candidates));

  naive::World world{model.config(),         model.canvas(), {},
                     model.temperature(0.0), kAverageReward, {}};
  for (int k = 0; k < count; ++k) world.places.push_back(row_of(matrix(model.places), k));
  for (int b = 0; b < kEpisodes; ++b) {
    naive::Scene scene;
    scene.canvas = row_of(matrix(canvases), b);
    scene.label = rollout.answer->truth(b)[0];
    scene.correct = rollout.answer->rewards[b];
    for (int k = 0; k < count; ++k)
      scene.candidates.push_back(row_of(matrix(candidates), b * count + k));
    if (world.is("hard_categorical"))
      for (int t = 0; t < rollout.core.steps; ++t) {
        const naive::Row weights = row_of(step(rollout.look->actions, t), b);
        CHECK(std::ranges::count(weights, 1.0) == 1);
        CHECK(std::ranges::count(weights, 0.0) == count - 1);
        scene.choices.push_back(
            static_cast<int>(std::ranges::find(weights, 1.0) - weights.begin()));
      }
    world.scenes.push_back(scene);
  }
  return world;
}

void check_forward(const Played& played, const naive::World& world, const naive::Parameters& p,
                   const std::vector<naive::Play>& plays) {
  const Rollout& rollout = played.lane.rollout();
  const int steps = rollout.core.steps;
  for (int t = 0; t < steps; ++t) {
    CAPTURE(t);
    naive::Row states, decisions;  // of all episodes
    for (const naive::Play& play : plays) {
      states = naive::join(states, play.states[t + 1]);
      if (world.recurrent()) decisions = naive::join(decisions, play.decisions[t]);
    }
    CHECK(relative_error(values_of(step(rollout.core.input, t + 1)
                                       .columns(rollout.core.features, rollout.core.hidden)),
                         states) < 1e-5);
    if (world.recurrent())
      CHECK(relative_error(values_of(step(rollout.look->decisions, t)), decisions) < 1e-5);
  }
  naive::Row classes;
  for (const naive::Play& play : plays)
    classes = naive::join(classes, naive::classify(p, play.states.back()));
  CHECK(relative_error(values_of(step(rollout.answer->probabilities, steps - 1)),
                       naive::map(classes, [](double z) { return std::exp(z); })) < 1e-5);
}

// Whether the parameter matters for the loss of the configuration.
bool gets_gradient(const AgentConfig& config, const std::string& name) {
  const bool one_glimpse = config.glimpse.num_glimpses == 1;
  const bool one_decision = one_glimpse && config.glimpse.first == "learned";
  if (name.starts_with("baseline") && config.reinforce.advantage != "learned") return false;
  if (!one_glimpse) return true;
  // What reads the state before the first glimpse, which is zero.
  for (const char* reader : {"baseline.weight", "locator.hidden.weight", "locator.score.weight",
                             "locator.score.query.weight"})
    if (name == reader) return false;
  return one_decision || !(name.starts_with("baseline") || name.starts_with("locator"));
}

void check_lane(const AgentConfig& given, const Sight& sight = kTinySight,
                const EnvironmentFactory& environments = tiny_environment) {
  const Played played(given, sight, environments);
  const AgentConfig& config = played.model.config();
  naive::Parameters p = naive::read_parameters(flat(played.parameters), played.model.layout());
  const auto environment = environments(kEpisodes, config.reinforce.rollouts);
  const naive::World world = read_world(played, *environment);
  const naive::Constants constants = naive::constants(world, p);
  check_forward(played, world, p, constants.plays);

  const naive::Loss loss = naive::loss(world, p, constants);
  CHECK(played.sums.classifier == doctest::Approx(loss.classifier).epsilon(1e-5));
  CHECK(played.sums.reinforce == doctest::Approx(loss.reinforce).epsilon(1e-5));
  CHECK(played.sums.baseline == doctest::Approx(loss.baseline).epsilon(1e-5));
  CHECK(played.sums.penalty == doctest::Approx(loss.penalty).epsilon(1e-5));
  double entropy = 0.0;
  for (const naive::Play& play : constants.plays)
    for (const naive::Row& chances : play.decisions) entropy += naive::entropy(chances);
  if (!world.places.empty())
    CHECK(played.sums.entropy ==
          doctest::Approx(entropy / config.glimpse.num_glimpses).epsilon(1e-5));
  check_gradient(
      played, p, [&] { return naive::loss(world, p, constants).total(); },
      [&](const std::string& name) { return gets_gradient(config, name); });
}

bool is_point(const AgentConfig& config) {
  return config.model.kind == "recurrent" &&
         find_glimpse_kind(config.glimpse.kind).family == GlimpseKind::Family::point;
}

TEST_CASE("a lane of every kind agrees with the naive model: forward, losses, every gradient") {
  // Every agent with every first glimpse, in turn with each core.
  const std::vector<std::string> cores = naive::cores().names(), firsts = first_glimpses();
  std::size_t turn = 0;
  for (const auto& [name, agent] : every_agent(busy_config("rnn"))) {
    if (is_point(agent)) continue;  // test_gradients.cpp
    CAPTURE(name);
    ++turn;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      AgentConfig config = agent;
      config.glimpse.first = firsts[i];
      config.model.core = cores[(turn + i) % cores.size()];
      CAPTURE(config.glimpse.first);
      CAPTURE(config.model.core);
      check_lane(config);
    }
  }
}

TEST_CASE("so it does with a single glimpse") {
  for (const auto& [name, agent] : every_agent(busy_config("lstm"))) {
    if (is_point(agent)) continue;
    for (const std::string first : {"center", "learned"}) {
      CAPTURE(name);
      CAPTURE(first);
      AgentConfig config = agent;
      config.glimpse.num_glimpses = 1;
      config.glimpse.first = first;
      // Such scores of a zero state are even, and the expectation of the places is (0, 0).
      const bool even = first == "learned" && config.glimpse.addressing == "content" &&
                        config.glimpse.score != "additive";
      if (even && config.glimpse.kind == "soft_grid" && config.glimpse.expect == "pixels") continue;
      check_lane(config);
    }
  }
}

TEST_CASE("so it does in colour, on a canvas that is no square") {
  for (const auto& [name, config] : every_agent(busy_config("rnn"))) {
    if (is_point(config)) continue;
    CAPTURE(name);
    check_lane(config, kColourSight, colour_environment);
  }
}

TEST_CASE("so a hard choice does with every advantage, and a soft one without its penalties") {
  for (const std::string& advantage : advantage_estimators()) {
    CAPTURE(advantage);
    AgentConfig config = busy_config("rnn");
    config.glimpse.kind = "hard_categorical";
    config.reinforce.advantage = advantage;
    check_lane(config);
  }
  AgentConfig config = busy_config("rnn");
  config.glimpse.kind = "soft_grid";
  check_lane(config);
  config.training.step_loss = 0.0;
  check_lane(config);
}

TEST_CASE("each loss of each kind sends gradient where the comment above Lane says") {
  struct Term {
    const char* name;
    double classifier, step, reinforce, entropy, baseline, coverage, rows;  // weights
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
      const bool hard = config.glimpse.kind == "hard_categorical";
      const bool canvas = config.model.kind != "recurrent";
      const bool has_locator =
          std::ranges::any_of(played.model.layout().parameters(),
                              [](const Parameter& p) { return p.name.starts_with("locator"); });
      CHECK(played.model.baseline.has_value() == (hard && !canvas));

      std::set<std::string> expected;
      if (canvas) {  // one step: there is no earlier one
        if (term.classifier > 0) expected = {"canvas", "classifier"};
      } else if (hard) {
        if (term.classifier > 0 || term.step > 0) expected = {"glimpse", "core", "classifier"};
        if ((term.reinforce > 0 || term.entropy > 0) && has_locator) expected = {"locator"};
        if (term.baseline > 0) expected = {"baseline"};
      } else {
        const bool answers = term.classifier > 0 || term.step > 0;
        const bool penalised = term.entropy > 0 || term.coverage > 0 || term.rows > 0;
        if (answers || (penalised && config.glimpse.kind == "soft_grid"))
          expected = {"glimpse", "core"};
        if (!expected.empty() && has_locator) expected.insert("locator");
        if (answers) expected.insert("classifier");
      }
      CHECK(reached_parts(played) == expected);
    }
  }
}

}  // namespace
}  // namespace saccade
