#pragma once

#include "tests/agent/naive_looks.h"
#include "tests/agent/played.h"

// Compares a lane that has run with the naive model: forward pass, losses, and the gradient of
// every parameter.
namespace saccade {

/// Returns whether the loss depends on the parameter.
inline bool gets_gradient(const Model& model, const std::string& name) {
  const AgentConfig& config = model.config();
  const int steps = model.num_glimpses(), first = model.first_decision();
  if (name.starts_with("baseline.")) {
    // The state before the first glimpse is zero.
    const int from = name == "baseline.weight" ? std::max(first, 1) : first;
    return find_advantage(config.reinforce.advantage).reads_baseline && from < steps;
  }
  if (steps > 1 || name == "locator.first" || name == "locator.log_std") return true;
  for (const char* reader : {"locator.hidden.weight", "locator.score.weight",
                             "locator.score.query.weight", "gate.state.weight"})
    if (name == reader) return false;
  const LookTraits& look = model.look();
  const bool point = look.looks && !look.frame && look.num_candidates == 0;
  const bool placed = !point || config.model.context != "none";  // from a zero state
  return !name.starts_with("locator") || (placed && config.glimpse.first == "learned");
}

// Compares class probabilities, or those of symbols given the previous ones, or of actions.
inline void check_answers(const Played& played, const naive::Parameters& p,
                          const std::vector<std::vector<naive::Row>>& states,
                          const std::vector<naive::Truth>& truths) {
  const AgentConfig& config = played.model.config();
  const Tensor<3>& probabilities = played.lane.rollout().answer->probabilities;
  const int steps = static_cast<int>(states[0].size()) - 1;
  for (int b = 0; b < kEpisodes; ++b) {
    const naive::Truth& truth = truths[b];
    CAPTURE(b);
    std::vector<naive::Row> said;  // log-probabilities of the last prediction
    if (!truth.symbols.empty())
      said = naive::decode(config, p, states[b], truth.length, truth.symbols);
    else if (!truth.actions.empty())
      for (int t = 1; t <= steps; ++t) said.push_back(naive::classify(p, states[b][t]));
    else
      for (int t = config.training.step_loss > 0.0 ? 1 : steps; t <= steps; ++t)
        said.push_back(
            naive::classify(p, naive::read_after(config, p, states[b], t, truth.length).output));
    const std::size_t first = truth.symbols.empty() ? steps - said.size() : 0;
    for (std::size_t i = 0; i < said.size(); ++i) {
      CAPTURE(i);
      const std::span fast(&probabilities(first + i, b, 0), said[i].size());
      CHECK(relative_error(fast, naive::map(said[i], [](double z) { return std::exp(z); })) < 1e-5);
    }
  }
}

inline void check_sums(const LossSums& sums, const naive::Loss& loss) {
  CHECK(sums.classifier == doctest::Approx(loss.classifier).epsilon(1e-5));
  CHECK(sums.reinforce == doctest::Approx(loss.reinforce).epsilon(1e-5));
  CHECK(sums.baseline == doctest::Approx(loss.baseline).epsilon(1e-5));
  CHECK(sums.penalty == doctest::Approx(loss.penalty).epsilon(1e-5));
}

inline void check_forward(const Played& played, const naive::Batch& batch,
                          const naive::Detached& detached, const naive::Parameters& p) {
  const Rollout& rollout = played.lane.rollout();
  for (int b = 0; b < kEpisodes; ++b) {
    const std::vector<naive::Row>& h = detached.states[b];
    for (int t = 0; t < batch.steps(); ++t) {
      CAPTURE(b);
      CAPTURE(t);
      const ConstMatrix states =
          step(rollout.core.input, t + 1).columns(rollout.core.features, rollout.core.hidden);
      CHECK(relative_error(std::span(states.row(b), states.cols), h[t + 1]) < 1e-5);
      if (t >= batch.first_action())
        CHECK(relative_error(std::span(&rollout.look->decisions(t, b, 0), 2),
                             naive::mean(p, t, h[t], batch.episodes[b].thumbnail)) < 1e-5);
    }
  }
}

// Returns the context network's input for the lane's scenes; empty if there is no context.
inline std::vector<naive::Row> thumbnails(const Model& model, Environment& environment) {
  environment.reset(kFirstScene);
  Tensor<2> canvases = zeros<2>(kEpisodes, model.canvas().pixels());
  environment.view(matrix(canvases));
  std::vector<naive::Row> all;
  for (int b = 0; b < kEpisodes; ++b)
    all.push_back(naive::thumbnail(model.config().model, model.canvas(),
                                   {&canvases(b, 0), &canvases(b, 0) + canvases.shape()[1]}));
  return all;
}

inline naive::Row row_of(ConstMatrix m, int r) { return {m.row(r), m.row(r) + m.cols}; }

// Reconstructs what the lane saw and did, from an environment with the same scenes.
inline naive::World read_world(const Played& played, Environment& environment) {
  const Model& model = played.model;
  const Rollout& rollout = played.lane.rollout();
  const ConstMatrix places = model.looking->places();
  const int count = places.rows;
  environment.reset(kFirstScene);
  Tensor<2> canvases = zeros<2>(kEpisodes, model.canvas().pixels());
  Tensor<3> candidates = zeros<3>(kEpisodes, count, environment.glimpse_size());
  environment.view(matrix(canvases));
  if (count > 0) environment.look_at_all(places, matrix(candidates));

  const double temperature =
      model.looking->exploration_at(0.0, flat(played.parameters)).temperature;
  naive::World world{
      model.config(), model.canvas(), {}, temperature, average_returns(model.num_glimpses()), {}};
  world.patch_size = model.look().picture_side;
  world.scales = model.look().pictures;
  world.std = played.std;
  for (int k = 0; k < count; ++k) world.places.push_back(row_of(places, k));
  for (int b = 0; b < kEpisodes; ++b) {
    naive::Scene scene;
    scene.canvas = row_of(matrix(canvases), b);
    scene.thumbnail = naive::thumbnail(model.config().model, model.canvas(), scene.canvas);
    scene.truth = naive::read_truth(environment.facts()[b], *rollout.answer, b, rollout.core.steps);
    for (int k = 0; k < count; ++k)
      scene.candidates.push_back(row_of(matrix(candidates), b * count + k));
    for (int t = 0; world.by_path() && t < rollout.core.steps; ++t) {
      scene.samples.push_back(row_of(step(rollout.look->actions, t), b));
      scene.noise.push_back(row_of(step(rollout.look->decisions, t), b));
      for (int axis = 0; axis < 2; ++axis)
        scene.noise[t][axis] =
            world.std > 0.0 ? (scene.samples[t][axis] - scene.noise[t][axis]) / world.std : 0.0;
    }
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

inline void check_forward(const Played& played, const std::vector<naive::Play>& plays) {
  const Rollout& rollout = played.lane.rollout();
  const bool has_decisions = !plays[0].decisions.empty();
  for (int t = 0; t < rollout.core.steps; ++t) {
    CAPTURE(t);
    naive::Row states, decisions;  // of all episodes
    for (const naive::Play& play : plays) {
      states = naive::join(states, play.states[t + 1]);
      if (has_decisions) decisions = naive::join(decisions, play.decisions[t]);
    }
    CHECK(relative_error(values_of(step(rollout.core.input, t + 1)
                                       .columns(rollout.core.features, rollout.core.hidden)),
                         states) < 1e-5);
    if (has_decisions)
      CHECK(relative_error(values_of(step(rollout.look->decisions, t)), decisions) < 1e-5);
  }
}

// ---- Whole lanes ----

/// For an agent whose glimpses are placed by hard_gaussian: its observations are constants.
/// `complete` fills in what only the environment knows of the episodes.
template <class Complete>
void check_point_lane(const Played& played, Complete&& complete) {
  naive::Parameters p = naive::read_parameters(flat(played.parameters), played.model.layout());
  naive::Batch batch{played.model.config(), played.std,
                     average_returns(played.model.num_glimpses()),
                     naive::read_episodes(played.lane.rollout())};
  std::vector<naive::Truth> truths;
  for (int b = 0; b < kEpisodes; ++b) {
    complete(batch.episodes[b], b);
    truths.push_back(batch.episodes[b].truth);
  }
  const naive::Detached detached = naive::detach(batch, p);
  check_forward(played, batch, detached, p);
  check_answers(played, p, detached.states, truths);
  check_sums(played.sums, naive::loss(batch, p, detached));
  check_gradient(
      played, p, [&] { return naive::loss(batch, p, detached).total(); },
      [&](const std::string& name) { return gets_gradient(played.model, name); });
}

inline void check_point_lane(const AgentConfig& config, const ObservationSpec& spec = kTinySpec,
                             const EnvironmentFactory& environments = tiny_environment) {
  const Played played(config, spec, environments);
  const auto environment = environments(kEpisodes, config.reinforce.rollouts);
  const std::vector<naive::Row> thumbnail = thumbnails(played.model, *environment);
  check_point_lane(played, [&](naive::Episode& e, int b) { e.thumbnail = thumbnail[b]; });
}

/// For every other agent.
inline void check_look_lane(const AgentConfig& given, const ObservationSpec& spec = kTinySpec,
                            const EnvironmentFactory& environments = tiny_environment) {
  const Played played(given, spec, environments);
  const AgentConfig& config = played.model.config();
  naive::Parameters p = naive::read_parameters(flat(played.parameters), played.model.layout());
  const auto environment = environments(kEpisodes, config.reinforce.rollouts);
  const naive::World world = read_world(played, *environment);
  const naive::Constants constants = naive::constants(world, p);
  std::vector<std::vector<naive::Row>> states;
  std::vector<naive::Truth> truths;
  for (int b = 0; b < kEpisodes; ++b) {
    states.push_back(constants.plays[b].states);
    truths.push_back(world.scenes[b].truth);
  }
  check_forward(played, constants.plays);
  check_answers(played, p, states, truths);
  check_sums(played.sums, naive::loss(world, p, constants));
  double entropy = 0.0;
  for (const naive::Play& play : constants.plays)
    for (const naive::Row& chances : play.decisions) entropy += naive::entropy(chances);
  if (!world.places.empty())
    CHECK(played.sums.entropy ==
          doctest::Approx(entropy / played.model.num_glimpses()).epsilon(1e-5));
  check_gradient(
      played, p, [&] { return naive::loss(world, p, constants).total(); },
      [&](const std::string& name) { return gets_gradient(played.model, name); });
}

inline bool is_point(const AgentConfig& config) {
  const GlimpseKind& kind = find_glimpse_kind(config.glimpse.kind);
  return config.model.kind == "recurrent" && kind.sees_motion && !kind.has_candidates &&
         kind.learning != GlimpseKind::Learning::backpropagation &&
         config.reinforce.estimator == "score";
}

}  // namespace saccade
