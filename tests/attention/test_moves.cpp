#include "attention/moves.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "attention/policy.h"
#include "nn/random.h"
#include "tests/guarded_matrix.h"

namespace saccade {
namespace {

using Pair = std::array<double, 2>;

/// The rule in double precision; no `from` at the first look.
Pair naive_move(const Pair& action, const Pair* from, const Moves& moves) {
  const double longest = std::max(1.0, std::sqrt(action[0] * action[0] + action[1] * action[1]));
  Pair place{};
  for (int axis = 0; axis < 2; ++axis) {
    const double reach = moves.reach[axis];
    place[axis] =
        from == nullptr
            ? reach * std::clamp(action[axis], -1.0, 1.0)
            : std::clamp((*from)[axis] + moves.max_step * action[axis] / longest, -reach, reach);
  }
  return place;
}

/// Moves of many episodes, on a canvas that is wider than high: some go beyond the reach, and some
/// are longer than a step.
struct MovesExample {
  MovesExample() : actions(kRows, 2), from(kRows, 2), dlocations(kRows, 2) {
    RandomStream stream(3, Purpose::scene, 0, 0);
    for (int b = 0; b < kRows; ++b)
      for (int axis = 0; axis < 2; ++axis) {
        actions(b, axis) = 0.9F * stream.normal();
        from(b, axis) = stream.uniform(-1.0F, 1.0F) * moves.reach[axis];
        dlocations(b, axis) = stream.normal();
      }
  }
  static constexpr int kRows = 200;
  const Moves moves = relative_moves(0.4F, {0.2F, 0.5F});
  GuardedMatrix actions, from, dlocations;

  Pair row(const GuardedMatrix& m, int b) const { return {m(b, 0), m(b, 1)}; }
};

TEST_CASE("an absolute move goes where the action says, clamped to the canvas") {
  MovesExample example;
  GuardedMatrix places(MovesExample::kRows, 2), clamped = places;
  move_forward(places.view(), example.actions.view(), example.from.view(), Moves{});
  clamp_to_canvas(clamped.view(), example.actions.view());
  CHECK(places == clamped);
  GuardedMatrix gradient = example.dlocations, dfrom(MovesExample::kRows, 2);
  GuardedMatrix expected = example.dlocations;
  move_backward(gradient.view(), dfrom.view(), example.actions.view(), example.from.view(),
                Moves{});
  clamp_backward(expected.view(), example.actions.view());
  CHECK(gradient == expected);
}

TEST_CASE("a relative move is a step of at most max_step, and the patch stays on the canvas") {
  MovesExample example;
  const Moves& moves = example.moves;
  CHECK(moves.reach[0] == doctest::Approx(0.8));
  CHECK(moves.reach[1] == doctest::Approx(0.5));
  GuardedMatrix places(MovesExample::kRows, 2), first = places;
  move_forward(places.view(), example.actions.view(), example.from.view(), moves);
  move_forward(first.view(), example.actions.view(), {}, moves);
  int stopped = 0, shortened = 0;
  for (int b = 0; b < MovesExample::kRows; ++b) {
    const Pair action = example.row(example.actions, b), from = example.row(example.from, b);
    const Pair place = naive_move(action, &from, moves), start = naive_move(action, nullptr, moves);
    for (int axis = 0; axis < 2; ++axis) {
      CHECK(places(b, axis) == doctest::Approx(place[axis]).scale(1.0).epsilon(1e-6));
      CHECK(first(b, axis) == doctest::Approx(start[axis]).scale(1.0).epsilon(1e-6));
      stopped += std::abs(places(b, axis)) == moves.reach[axis] ? 1 : 0;
    }
    CHECK(std::hypot(place[0] - from[0], place[1] - from[1]) <= moves.max_step + 1e-6);
    shortened += std::hypot(action[0], action[1]) > 1.0 ? 1 : 0;
  }
  CHECK(stopped > 20);
  CHECK(shortened > 20);
}

TEST_CASE("a patch as large as the canvas leaves no room to move") {
  CHECK(relative_moves(0.2F, {1.0F, 1.5F}).reach == std::array<float, 2>{0.0F, 0.0F});
}

TEST_CASE("a move of NaN looks at the smallest location") {
  MovesExample example;
  example.actions(0, 1) = kNan;
  for (const ConstMatrix from : {ConstMatrix(example.from.view()), ConstMatrix{}}) {
    GuardedMatrix places(MovesExample::kRows, 2);
    move_forward(places.view(), example.actions.view(), from, example.moves);
    CHECK(places(0, 1) == -example.moves.reach[1]);
  }
}

TEST_CASE("the gradient of a relative move is the slope, by its action and by its start") {
  MovesExample example;
  constexpr double kStep = 1e-6;
  for (const bool first : {false, true}) {
    CAPTURE(first);
    GuardedMatrix gradient = example.dlocations, dfrom(MovesExample::kRows, 2);
    move_backward(gradient.view(), dfrom.view(), example.actions.view(),
                  first ? ConstMatrix{} : ConstMatrix(example.from.view()), example.moves);
    for (int b = 0; b < MovesExample::kRows; ++b) {
      CAPTURE(b);
      const auto loss = [&](const Pair& action, const Pair& from) {
        const Pair place = naive_move(action, first ? nullptr : &from, example.moves);
        return place[0] * example.dlocations(b, 0) + place[1] * example.dlocations(b, 1);
      };
      const Pair action = example.row(example.actions, b), from = example.row(example.from, b);
      for (int axis = 0; axis < 2; ++axis) {
        Pair more = action, less = action, right = from, left = from;
        more[axis] += kStep;
        less[axis] -= kStep;
        right[axis] += kStep;
        left[axis] -= kStep;
        CHECK(gradient(b, axis) ==
              doctest::Approx((loss(more, from) - loss(less, from)) / (2 * kStep))
                  .scale(1.0)
                  .epsilon(1e-5));
        if (!first)
          CHECK(dfrom(b, axis) ==
                doctest::Approx((loss(action, right) - loss(action, left)) / (2 * kStep))
                    .scale(1.0)
                    .epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("an action that leads to a place gets there, or as far as a step goes") {
  MovesExample example;
  GuardedMatrix goals = example.from;
  for (int b = 0; b < MovesExample::kRows; ++b)
    for (int axis = 0; axis < 2; ++axis)
      goals(b, axis) = example.from((b + 1) % MovesExample::kRows, axis);
  for (const bool first : {false, true}) {
    const ConstMatrix from = first ? ConstMatrix{} : ConstMatrix(example.from.view());
    GuardedMatrix actions = goals, places(MovesExample::kRows, 2);
    lead_to(actions.view(), from, example.moves);
    move_forward(places.view(), actions.view(), from, example.moves);
    int reached = 0;
    for (int b = 0; b < MovesExample::kRows; ++b) {
      const double x = goals(b, 0) - example.from(b, 0), y = goals(b, 1) - example.from(b, 1);
      const double share = first ? 1.0 : std::min(1.0, example.moves.max_step / std::hypot(x, y));
      const Pair place = first
                             ? example.row(goals, b)
                             : Pair{example.from(b, 0) + share * x, example.from(b, 1) + share * y};
      for (int axis = 0; axis < 2; ++axis)
        CHECK(places(b, axis) == doctest::Approx(place[axis]).scale(1.0).epsilon(1e-5));
      reached += share == 1.0 ? 1 : 0;
    }
    CHECK(reached > 20);
    CHECK((reached == MovesExample::kRows) == first);
  }
}

TEST_CASE(
    "with relative moves the controls go toward their places, and random ones move anywhere") {
  MovesExample example;
  constexpr int kRows = MovesExample::kRows;
  std::vector<RandomStream> streams, same;
  for (std::uint32_t b = 0; b < kRows; ++b) streams.emplace_back(1, Purpose::policy_noise, 0, b);
  for (const std::string& name : policies()) {
    CAPTURE(name);
    for (const bool first : {false, true}) {
      GuardedMatrix absolute(kRows, 2), relative = absolute;
      LookRequest request{.t = first ? 0 : 2,
                          .num_glimpses = 4,
                          .mean = example.actions.view(),
                          .std = 0.3F,
                          .target = example.dlocations.view(),
                          .streams = streams};
      same = streams;
      find_policy(name)(absolute.view(), request);
      request.streams = same;
      request.moves = &example.moves;
      if (!first) request.from = example.from.view();
      find_policy(name)(relative.view(), request);
      if (name == "center" || name == "scan" || name == "oracle")
        lead_to(absolute.view(), request.from, example.moves);
      CHECK(relative == absolute);
    }
  }
}

}  // namespace
}  // namespace saccade
