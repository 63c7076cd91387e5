// Common properties of the ways of looking: equal initial weights for equal names, equal answers if
// there is no choice, hard and soft reads of one distribution, and replay.
#include "agent/looking/looking.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "agent/looking/glimpse_input.h"
#include "agent/model/rollout.h"
#include "attention/categorical.h"
#include "attention/grid.h"
#include "base/error.h"
#include "base/name_table.h"
#include "tests/agent/agents.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kLookEpisodes = 4;

// Episodes of an agent. Parameters with the same name and shape are equal in all agents.
struct LookPlayer {
  explicit LookPlayer(const AgentConfig& config, int rollouts = 1)
      : model(config, kTinySpec),
        parameters(zeros<1>(model.layout().size())),
        rollout(model, tiny_environment(kLookEpisodes, rollouts)) {
    for (const Parameter& p : model.layout().parameters()) {
      const auto name = static_cast<std::uint32_t>(std::hash<std::string>{}(p.name));
      RandomStream stream(5, Purpose::initial_weights, 0, name);
      for (float& value : values_of(flat(parameters), p)) value = 0.5F * stream.normal();
    }
  }

  void run(RolloutRequest request) {
    request.first_scene = 3;
    rollout.run(flat(parameters), request);
  }

  /// The class probabilities at the end, (B C).
  std::vector<float> answers() const {
    return values_of(step(rollout.answer->probabilities, rollout.core.steps - 1));
  }

  Model model;
  Tensor<1> parameters;
  Rollout rollout;
};

LookTraits look_of(const AgentConfig& config) { return Model(config, kTinySpec).look(); }

AgentConfig at_temperature(AgentConfig config, double temperature) {
  config.glimpse.temperature = {temperature, temperature, 1.0};
  return config;
}

TEST_CASE("a random first look is sampled, whatever the kind of the later ones") {
  AgentConfig config = tiny_config();
  config.glimpse.kind = "hard_categorical";
  config.glimpse.first = "random";
  for (const char* kind : {"hard_categorical", "soft_grid"})
    for (const SamplingMode sampling : {SamplingMode::deterministic, SamplingMode::argmax}) {
      config.glimpse.kind = kind;
      if (sampling == SamplingMode::deterministic && kind == std::string("soft_grid")) continue;
      LookPlayer player(config);
      std::map<int, int> count;  // of each candidate
      for (std::uint32_t update = 0; update < 300; ++update) {
        player.run({.update = update, .sampling = sampling});
        const ConstMatrix first = step(player.rollout.look->actions, 0);
        for (int b = 0; b < first.rows; ++b)
          ++count[static_cast<int>(std::max_element(first.row(b), first.row(b) + first.cols) -
                                   first.row(b))];
      }
      REQUIRE(count.size() == 6);
      for (const auto& [candidate, times] : count) {  // mean 200, standard deviation 13
        CAPTURE(candidate);
        CHECK(std::abs(times - 200) < 70);
      }
    }
}

void check_same_but_deterministic(LookPlayer& a, LookPlayer& b) {
  for (const SamplingMode sampling :
       {SamplingMode::training, SamplingMode::sample, SamplingMode::argmax}) {
    a.run({.sampling = sampling});
    b.run({.sampling = sampling});
    CHECK(std::ranges::equal(a.rollout.look->actions, b.rollout.look->actions));
  }
}

TEST_CASE("only the deterministic pass spreads its looks, starting with a learned first look") {
  for (const std::string first : {"center", "learned"}) {
    CAPTURE(first);
    AgentConfig config = tiny_config();
    config.glimpse.kind = "hard_gaussian";
    config.glimpse.first = first;
    config.glimpse.std = {0.2, 0.2, 1.0};
    AgentConfig spread = config;
    spread.glimpse.spread = 1.5;
    LookPlayer still(config), about(spread);

    check_same_but_deterministic(still, about);
    about.run({.sampling = SamplingMode::deterministic, .policy = find_policy("center")});
    CHECK(std::ranges::all_of(about.rollout.look->actions, [](float l) { return l == 0.0F; }));

    about.run({.sampling = SamplingMode::deterministic});
    const Look& look = *about.rollout.look;
    for (int t = 0; t < about.rollout.core.steps; ++t) {
      CAPTURE(t);
      const bool learned = t > 0 || first == "learned";
      const std::array<float, 2> offset = spread_offset(t, about.rollout.core.steps);
      for (int b = 0; b < kLookEpisodes; ++b)
        for (int axis = 0; axis < 2; ++axis)
          CHECK(look.actions(t, b, axis) ==
                doctest::Approx(learned ? look.decisions(t, b, axis) + 0.3F * offset[axis] : 0.0F));
    }
  }
}

TEST_CASE("soft_point spreads its looks in every pass, by a width that shrinks in training") {
  AgentConfig config = tiny_config();
  config.glimpse.kind = "soft_point";
  config.glimpse.first = "learned";
  config.glimpse.std = {0.4, 0.2, 1.0};
  config.glimpse.spread = 1.5;
  LookPlayer about(config);
  for (const double progress : {0.0, 1.0})
    for (const SamplingMode sampling : {SamplingMode::training, SamplingMode::deterministic}) {
      about.run({.progress = progress, .sampling = sampling});
      const Look& look = *about.rollout.look;
      CHECK(look.entropy(1, 0) == 0.0F);
      CHECK(look.log_probability(1, 0) == 0.0F);
      const float width = progress == 0.0 ? 0.6F : 0.3F;
      for (int t = 0; t < about.rollout.core.steps; ++t) {
        const std::array<float, 2> offset = spread_offset(t, about.rollout.core.steps);
        for (int b = 0; b < kLookEpisodes; ++b)
          for (int axis = 0; axis < 2; ++axis)
            CHECK(look.actions(t, b, axis) ==
                  doctest::Approx(look.decisions(t, b, axis) + width * offset[axis]));
      }
    }
  about.run({.policy = find_policy("center")});
  CHECK(std::ranges::all_of(about.rollout.look->actions, [](float l) { return l == 0.0F; }));
}

TEST_CASE("only the deterministic pass of a choice among candidates takes its quantiles") {
  for (const std::string first : {"center", "learned"}) {
    CAPTURE(first);
    AgentConfig config = tiny_config();
    config.glimpse.kind = "hard_categorical";
    config.glimpse.first = first;
    AgentConfig spread = config;
    spread.glimpse.spread = 1.0;
    LookPlayer still(config), about(spread);
    check_same_but_deterministic(still, about);

    about.run({.sampling = SamplingMode::deterministic});
    const Look& look = *about.rollout.look;
    for (int t = 0; t < about.rollout.core.steps; ++t)
      for (int b = 0; b < kLookEpisodes; ++b) {
        const float* p = &look.decisions(t, b, 0);
        const int count = static_cast<int>(look.decisions.shape()[2]);
        const auto best = static_cast<int>(std::max_element(p, p + count) - p);
        const int wanted = t == 0 ? best : quantile(p, count, spread_quantile(t), 1.0F);
        CHECK(look.actions(t, b, wanted) == 1.0F);
      }
  }
}

AgentConfig with_relative_moves(const std::string& kind) {
  AgentConfig config = tiny_config();
  config.glimpse.kind = kind;
  config.glimpse.moves = "relative";
  config.glimpse.max_step = 0.3;
  config.glimpse.std = {1.5, 1.5, 1.0};
  config.glimpse.num_glimpses = 6;
  return config;
}

// The tiny task: 12 x 12 pixels, a patch of 3.
const Moves kTinyMoves = relative_moves(0.3F, {3.0F / 12.0F, 3.0F / 12.0F});

TEST_CASE("relative moves: every look is where its action leads, and is read between pixels") {
  for (const std::string kind : {"hard_gaussian", "soft_point", "random", "scan", "oracle"}) {
    CAPTURE(kind);
    LookPlayer player(with_relative_moves(kind));
    player.run({.seed = 4});
    const Look& look = *player.rollout.look;
    Tensor<2> place = zeros<2>(kLookEpisodes, 2);
    const int size = player.rollout.environment->glimpse_size();
    Tensor<2> glimpse = zeros<2>(kLookEpisodes, size), slopes = zeros<2>(kLookEpisodes, 2 * size);
    int longer = 0;
    player.rollout.environment->reset(3);
    for (int t = 0; t < player.rollout.core.steps; ++t) {
      CAPTURE(t);
      move_forward(matrix(place), step(look.actions, t),
                   t > 0 ? ConstMatrix(step(look.locations, t - 1)) : ConstMatrix{}, kTinyMoves);
      CHECK(values_of(matrix(place)) == values_of(step(look.locations, t)));
      player.rollout.environment->look_smoothly(matrix(place), matrix(glimpse), matrix(slopes));
      CHECK(values_of(matrix(glimpse)) == values_of(step(look.glimpses, t)));
      for (int b = 0; b < kLookEpisodes; ++b)
        longer += t > 0 && std::hypot(look.actions(t, b, 0), look.actions(t, b, 1)) > 1.0F;
    }
    if (kind == "hard_gaussian" || kind == "random") CHECK(longer > 0);
  }
}

TEST_CASE("relative moves: a control of another agent makes its own moves") {
  LookPlayer player(with_relative_moves("hard_gaussian"));
  LookPlayer control(with_relative_moves("random"));
  player.run({.seed = 4, .policy = find_policy("random")});
  control.run({.seed = 4});
  CHECK(std::ranges::equal(player.rollout.look->locations, control.rollout.look->locations));
}

AgentConfig with_steps(const std::string& first) {
  AgentConfig config = with_relative_moves("hard_categorical");
  config.glimpse.grid.cells = {3, 5};
  config.glimpse.first = first;
  return config;
}

int choice_of(const Look& look, int t, int b) {
  const float* weights = &look.actions(t, b, 0);
  return static_cast<int>(std::find(weights, weights + look.actions.shape()[2], 1.0F) - weights);
}

TEST_CASE("relative moves: the candidates of a grid are steps, read between pixels") {
  const Tensor<2> steps = grid_moves({.cells = {3, 5}});
  for (const std::string first : {"random", "center", "learned"}) {
    CAPTURE(first);
    LookPlayer player(with_steps(first));
    player.run({.seed = 4});
    Look& look = *player.rollout.look;
    const int size = player.rollout.environment->glimpse_size();
    Tensor<2> action = zeros<2>(kLookEpisodes, 2), place = action;
    Tensor<2> glimpse = zeros<2>(kLookEpisodes, size), slopes = zeros<2>(kLookEpisodes, 2 * size);
    player.rollout.environment->reset(3);
    std::set<int> chosen;
    for (int t = 0; t < player.rollout.core.steps; ++t) {
      CAPTURE(t);
      for (int b = 0; b < kLookEpisodes; ++b) {
        const int k = choice_of(look, t, b);
        chosen.insert(k);
        for (int axis = 0; axis < 2; ++axis) action(b, axis) = steps(k, axis);
        const float* p = &look.decisions(t, b, 0);
        CHECK(std::accumulate(p, p + 15, 0.0F) == doctest::Approx(1.0));
        CHECK(look.log_probability(t, b) ==
              (t > 0 || first == "learned" ? doctest::Approx(std::log(p[k])) : 0.0F));
        if (t == 0 && first == "random") CHECK(p[k] == doctest::Approx(1.0 / 15));
        if (t == 0 && first == "center") CHECK(p[7] == 1.0F);
      }
      move_forward(matrix(place), matrix(action),
                   t > 0 ? ConstMatrix(step(look.locations, t - 1)) : ConstMatrix{}, kTinyMoves);
      CHECK(values_of(matrix(place)) == values_of(step(look.locations, t)));
      player.rollout.environment->look_smoothly(matrix(place), matrix(glimpse), matrix(slopes));
      CHECK(values_of(matrix(glimpse)) == values_of(step(look.glimpses, t)));
      const Gaze gaze = look.gaze(t, 1);
      CHECK(gaze.places.rows == 1);
      CHECK(gaze.places(0, 1) == place(1, 1));
      CHECK(gaze.weights[0] == 1.0F);
    }
    CHECK(chosen.size() > 4);
  }
}

TEST_CASE("relative moves: a grid follows a control by the nearest of its steps") {
  LookPlayer player(with_steps("random"));
  AgentConfig config = with_relative_moves("oracle");
  LookPlayer oracle(config);
  player.run({.seed = 4, .policy = find_policy("oracle")});
  oracle.run({.seed = 4});
  const Look &look = *player.rollout.look, &goal = *oracle.rollout.look;
  const int last = player.rollout.core.steps - 1;
  for (int b = 0; b < kLookEpisodes; ++b)
    for (int axis = 0; axis < 2; ++axis)  // half steps along x, whole ones along y
      CHECK(std::abs(look.locations(last, b, axis) - goal.locations(last, b, axis)) <=
            0.3 * (axis == 0 ? 0.25 : 0.5) + 1e-5);
  player.run({.seed = 4, .policy = find_policy("center")});
  for (const float place : player.rollout.look->locations) CHECK(place == 0.0F);
}

TEST_CASE("points look at given places, wherever these are, and then go on from there") {
  for (const bool relative : {false, true}) {
    CAPTURE(relative);
    AgentConfig config = with_relative_moves("hard_gaussian");
    if (!relative) config.glimpse.moves = "absolute";
    LookPlayer player(config), other(config);
    Tensor<3> places = zeros<3>(6, kLookEpisodes, 2);
    RandomStream stream(2, Purpose::policy_noise, 0, 0);
    for (float& place : places) place = stream.uniform(-1.0F, 1.0F);
    player.run({.seed = 4, .locations = &places, .replay_steps = 4});
    const Look& look = *player.rollout.look;
    for (int t = 0; t < 4; ++t)
      CHECK(values_of(step(look.locations, t)) == values_of(step(places, t)));
    Tensor<2> next = zeros<2>(kLookEpisodes, 2);
    move_forward(matrix(next), step(look.actions, 4), step(look.locations, 3),
                 relative ? kTinyMoves : Moves{});
    CHECK(values_of(matrix(next)) == values_of(step(look.locations, 4)));
    // Without given places again.
    player.run({.seed = 4});
    other.run({.seed = 4});
    CHECK(player.answers() == other.answers());
  }
  AgentConfig grid = tiny_config();
  grid.glimpse.kind = "hard_categorical";
  LookPlayer player(grid);
  const Tensor<3> places = zeros<3>(grid.glimpse.num_glimpses, kLookEpisodes, 2);
  CHECK_THROWS_AS(player.run({.locations = &places}), std::logic_error);
}

TEST_CASE("relative moves need a patch that is smaller than the canvas") {
  AgentConfig config = with_relative_moves("hard_gaussian");
  const ObservationSpec spec{
      .glimpse_size = 36, .num_classes = 3, .canvas = {1, 6, 6}, .patch_size = 6};
  CHECK(message_of<SettingError>([&] { Model(config, spec); }) ==
        "attention.glimpse.moves: relative has no room, because retina.patch_size: 6 covers the "
        "canvas of 6 x 6; allowed: absolute, or a smaller patch");
  config.glimpse.moves = "absolute";
  CHECK_NOTHROW(Model(config, spec));
}

TEST_CASE("with equal seeds all kinds start with the same bits in shared parameters") {
  using Key = std::tuple<std::string, int, int>;
  std::map<Key, std::vector<float>> all;
  std::map<Key, int> count;
  for (const auto& [name, config] : every_agent(tiny_config())) {
    CAPTURE(name);
    const Model model(config, kTinySpec);
    Tensor<1> parameters = zeros<1>(model.layout().size());
    model.layout().initialize(flat(parameters), 4);
    for (const Parameter& p : model.layout().parameters()) {
      CAPTURE(p.name);
      const std::vector<float> values =
          values_of(ConstMatrix{values_of(flat(parameters), p).data(), p.rows, p.cols, p.cols});
      const auto [known, is_new] = all.insert({{p.name, p.rows, p.cols}, values});
      ++count[known->first];
      if (!is_new)
        CHECK(std::ranges::equal(values, known->second, [](float a, float b) {
          return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
        }));
    }
  }
  for (const auto& [name, rows, cols] :
       {Key{"glimpse.what.weight", kTinyGlimpse, 7}, Key{"core.weight", 13, 5},
        Key{"locator.hidden.weight", 5, 6}, Key{"locator.score.weight", 5, 8},
        Key{"baseline.weight", 5, 1}}) {
    CAPTURE(name);
    CHECK(count[{name, rows, cols}] > 1);
  }
}

TEST_CASE("every kind gives the same answer if there is only one place to see") {
  std::map<std::string, std::vector<float>> by_network;
  for (const auto& [name, agent] : every_agent(tiny_config("gru"))) {
    if (!look_of(agent).looks || look_of(agent).frame) continue;
    if (look_of(agent).smooth) continue;  // half a pixel away from the others
    if (agent.model.feature_size != tiny_config().model.feature_size)
      continue;  // different weights
    CAPTURE(name);
    AgentConfig config = agent;
    config.glimpse.grid.cells = {1, 1};
    LookPlayer player(config);
    player.run({.policy = find_policy("center")});
    const std::vector<float> answers = player.answers();
    std::vector<float>& expected = by_network[agent.model.glimpse_network];
    if (expected.empty()) expected = answers;
    CHECK(relative_error(answers, expected) < 1e-5);
    if (look_of(config).num_candidates == 0) continue;
    player.run({});  // there is no other choice
    CHECK(player.answers() == answers);
  }
  CHECK(by_network.size() == glimpse_networks().size());
  for (const auto& [network, expected] : by_network)
    CHECK(expected.size() == kLookEpisodes * kTinyClasses);
}

TEST_CASE("as the temperature approaches zero a soft read approaches the most probable candidate") {
  for (const auto& [name, agent] : every_agent(tiny_config())) {
    if (!look_of(agent).expects) continue;
    CAPTURE(name);
    AgentConfig config = agent;
    config.glimpse.first = "center";  // scores of the initial zero state may be equal
    const auto answers = [&](double temperature, SamplingMode sampling) {
      LookPlayer player(at_temperature(config, temperature));
      player.run({.sampling = sampling});
      return player.answers();
    };
    const std::vector<float> hard = answers(1.0, SamplingMode::argmax);
    CHECK(relative_error(answers(1e-5, SamplingMode::training), hard) < 1e-4);
    CHECK(relative_error(answers(1.0, SamplingMode::training), hard) > 1e-3);
  }
}

// Mean and squared standard error over sets of numbers.
struct Mean {
  void add(const std::vector<float>& values) {
    sums.resize(values.size());
    squares.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i] += values[i];
      squares[i] += static_cast<double>(values[i]) * values[i];
    }
    ++count;
  }
  double mean(std::size_t i) const { return sums[i] / count; }
  double error(std::size_t i) const {
    return std::sqrt(std::max(0.0, squares[i] / count - mean(i) * mean(i)) / count);
  }

  std::vector<double> sums, squares;
  int count = 0;
};

// What the expectation is taken of: embeddings, or pixels and places.
std::vector<float> read_of(LookPlayer& player) {
  Rollout& rollout = player.rollout;
  if (rollout.look->glimpses.size() == 0) return values_of(ConstMatrix(rollout.core.feature(0)));
  std::vector<float> values = values_of(ConstMatrix(step(rollout.look->glimpses, 0)));
  for (const float place : rollout.look->locations) values.push_back(place);
  return values;
}

TEST_CASE("the mean of many hard reads is the soft read") {
  constexpr int kPasses = 4000;
  for (const auto& [name, agent] : every_agent(tiny_config())) {
    if (!look_of(agent).expects) continue;
    AgentConfig soft_config = at_temperature(agent, 0.8);
    soft_config.glimpse.num_glimpses = 1;
    soft_config.glimpse.first = "learned";
    AgentConfig hard_config = soft_config;
    hard_config.glimpse.kind = "hard_categorical";
    hard_config.glimpse.expect = "none";
    LookPlayer soft(soft_config);
    soft.run({});
    const std::vector<float> expected = read_of(soft);

    const auto check = [&](LookPlayer& player, SamplingMode sampling) {
      Mean mean;
      for (std::uint32_t pass = 0; pass < kPasses; ++pass) {
        player.run({.update = pass, .sampling = sampling});
        mean.add(read_of(player));
      }
      REQUIRE(mean.sums.size() == expected.size());
      double spread = 0.0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        // One candidate of 800 may never be drawn, and is then missing from the error estimate,
        // too.
        CHECK(std::abs(mean.mean(i) - expected[i]) <= 5.0 * mean.error(i) + 5.0 / kPasses);
        spread = std::max(spread, mean.error(i));
      }
      CHECK(spread > 1e-4);
    };
    CAPTURE(name);
    check(soft, SamplingMode::sample);
    // Hard attention reads embeddings if it has them, otherwise a glimpse.
    if ((agent.glimpse.addressing == "content") != (agent.glimpse.expect == "features")) continue;
    LookPlayer hard(hard_config);
    check(hard, SamplingMode::training);
  }
}

TEST_CASE("replay repeats an episode bit for bit, and other actions change it") {
  for (const auto& [name, config] : every_agent(tiny_config("lstm"))) {
    if (!look_of(config).looks) continue;
    CAPTURE(name);
    LookPlayer player(config);
    player.run({.seed = 9});
    const std::vector<float> answers = player.answers();
    const Tensor<3> actions = player.rollout.look->actions;

    LookPlayer other(config);
    other.run({.seed = 10, .replay = &actions});
    CHECK(other.answers() == answers);

    Tensor<3> shifted = actions;  // by one episode
    for (int t = 0; t < player.rollout.core.steps; ++t)
      for (int b = 0; b < kLookEpisodes; ++b)
        std::ranges::copy(
            std::span(step(actions, t).row((b + 1) % kLookEpisodes), actions.shape()[2]),
            &shifted(t, b, 0));
    // Some controls look at the same places in every episode; learned looks do not.
    const bool same_everywhere = shifted == actions;
    if (find_glimpse_kind(config.glimpse.kind).learning != GlimpseKind::Learning::none)
      CHECK_FALSE(same_everywhere);
    other.run({.replay = &shifted});
    CHECK((other.answers() == answers) == same_everywhere);
  }
}

TEST_CASE("each sampling mode on a distribution over a grid") {
  for (const auto& [name, config] : every_agent(tiny_config())) {
    if (look_of(config).num_candidates == 0) continue;
    const bool soft = look_of(config).expects;
    for (const SamplingMode sampling : {SamplingMode::training, SamplingMode::deterministic,
                                        SamplingMode::argmax, SamplingMode::sample}) {
      CAPTURE(name);
      CAPTURE(static_cast<int>(sampling));
      LookPlayer player(config);
      player.run({.sampling = sampling});
      const bool trains = sampling == SamplingMode::training;
      const bool samples = sampling == SamplingMode::sample || (trains && !soft);
      int unlikely = 0;
      for (int t = 1; t < player.rollout.core.steps; ++t) {  // the first is random
        const ConstMatrix p = step(player.rollout.look->decisions, t);
        const ConstMatrix w = step(player.rollout.look->actions, t);
        for (int b = 0; b < kLookEpisodes; ++b) {
          const std::vector<float> chances(p.row(b), p.row(b) + p.cols);
          const std::vector<float> weights(w.row(b), w.row(b) + w.cols);
          if (soft && (trains || sampling == SamplingMode::deterministic)) {
            CHECK(weights == chances);
            continue;
          }
          CHECK(std::ranges::count(weights, 1.0F) == 1);
          CHECK(std::ranges::count(weights, 0.0F) == p.cols - 1);
          unlikely += std::ranges::max_element(weights) - weights.begin() !=
                      std::ranges::max_element(chances) - chances.begin();
        }
      }
      CHECK((unlikely > 0) == samples);
    }
  }
}

TEST_CASE("hard kinds learn by REINFORCE, soft ones by backpropagation, controls do not learn") {
  using enum GlimpseKind::Learning;
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    const bool hard = kind.starts_with("hard_"), soft = kind.starts_with("soft_");
    CHECK(find_glimpse_kind(kind).learning == (hard ? reinforce : soft ? backpropagation : none));
  }
}

TEST_CASE("an unknown kind lists the valid ones") {
  CHECK(message_of<InputError>([] { find_glimpse_kind("hard"); }) ==
        "unknown attention.glimpse.kind 'hard'; allowed: " + join(glimpse_kinds()));
}

TEST_CASE("a kind implies the addressing of its grid and its expectation") {
  struct Settled {
    std::string kind, addressing, expect, first;
  };
  for (const Settled& expected :
       {Settled{"hard_categorical", "location", "none", "random"},
        Settled{"soft_grid", "content", "features", "random"},
        Settled{"soft_gaussian", "none", "none", "learned"},
        Settled{"soft_point", "none", "none", "random"},
        Settled{"hard_gaussian", "none", "none", "random"},
        Settled{"random", "none", "none", "random"}, Settled{"scan", "none", "none", "random"}}) {
    CAPTURE(expected.kind);
    GlimpseConfig config{.kind = expected.kind};
    for (int times = 0; times < 2; ++times) {  // applying the defaults twice changes nothing
      settle(config);
      CHECK(config.kind == expected.kind);
      CHECK(config.addressing == expected.addressing);
      CHECK(config.expect == expected.expect);
      CHECK(config.first == expected.first);
    }
  }
}

TEST_CASE("explicit settings are not overridden by defaults") {
  GlimpseConfig hard{.kind = "hard_categorical", .first = "center", .addressing = "content"};
  settle(hard);
  CHECK(hard.addressing == "content");
  CHECK(hard.first == "center");
  GlimpseConfig soft{.kind = "soft_grid", .addressing = "location", .expect = "pixels"};
  settle(soft);
  CHECK(soft.addressing == "location");
  CHECK(soft.expect == "pixels");
  GlimpseConfig unknown{.kind = "soft"};
  CHECK_THROWS_AS(settle(unknown), InputError);
}

}  // namespace
}  // namespace saccade
