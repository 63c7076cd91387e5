// Points that are moved from look to look, by steps or to given places.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "agent/looking/looking.h"
#include "attention/grid.h"
#include "attention/moves.h"
#include "base/error.h"
#include "tests/agent/look_player.h"

namespace saccade {
namespace {

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

}  // namespace
}  // namespace saccade
