#include "env/catch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/env/environment_calls.h"
#include "tests/statistics.h"
#include "tests/support.h"

namespace saccade {
namespace {

CatchEnvironment make_catch(std::array<int, 2> canvas, int episodes, int rollouts = 1,
                            std::uint64_t seed = 1, Split split = Split::train) {
  return {canvas, Retina({1, 1, 2}, canvas[0], canvas[1], 1), split, seed, episodes, rollouts};
}

// What a player can see of one episode: white pixels.
struct Screen {
  int ball_row = -1, ball_col = -1;
  int paddle = -1;  // its left pixel
};

// Reads a canvas; checks that it contains one ball above a paddle of two pixels and nothing else.
Screen read_screen(const GuardedMatrix& canvases, int b, int rows, int cols) {
  Screen screen;
  int white = 0;
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col) {
      const float pixel = canvases(b, row * cols + col);
      if (pixel == 0.0F) continue;
      REQUIRE(pixel == 1.0F);
      ++white;
      if (row < rows - 1) {
        screen.ball_row = row;
        screen.ball_col = col;
      } else if (screen.paddle < 0) {
        screen.paddle = col;
      } else {
        REQUIRE(col == screen.paddle + 1);
      }
    }
  REQUIRE(white == 3);
  REQUIRE(screen.ball_row >= 0);
  return screen;
}

// Column of a ball t steps after it was at `col`: it moves around a track of twice the width.
int column_after(int col, int drift, int t, int cols) {
  const int track = 2 * (cols - 1);
  const int place = (((col + drift * t) % track) + track) % track;
  return std::min(place, track - place);
}

TEST_CASE("catch: ball, paddle and rewards agree with a naive game, using only the screen") {
  CHECK(catch_actions() == Names{"left", "stay", "right"});
  for (const auto& [rows, cols] : {std::pair{24, 24}, {4, 4}, {5, 9}, {30, 6}}) {
    CAPTURE(rows);
    CAPTURE(cols);
    constexpr int kEpisodes = 20, kBalls = 12;
    CatchEnvironment environment = make_catch({rows, cols}, kEpisodes);
    REQUIRE(environment.steps_per_ball() == rows - 1);
    environment.reset(7);
    std::vector<Screen> before;
    const auto see = [&](int b) { return read_screen(view_of(environment), b, rows, cols); };
    for (int b = 0; b < kEpisodes; ++b) before.push_back(see(b));
    std::vector<Screen> start = before;
    std::vector<int> drift(kEpisodes);
    int caught = 0, turned = 0;
    for (int t = 0; t < kBalls * (rows - 1); ++t) {
      const int fallen = t % (rows - 1) + 1;  // rows fallen after this action
      const std::vector<int> actions = random_actions(environment, static_cast<std::uint32_t>(t));
      const std::vector<float> rewards = act_all(environment, actions);
      const GuardedMatrix canvases = view_of(environment);
      for (int b = 0; b < kEpisodes; ++b) {
        const Screen now = read_screen(canvases, b, rows, cols);
        const int moved = before[b].paddle + actions[b] - 1;
        REQUIRE(now.paddle == std::min(std::max(moved, 0), cols - 2));
        const Box& box = environment.facts()[b].boxes[0];
        REQUIRE(box == Box{now.ball_col, now.ball_row, 1, 1});
        if (fallen == rows - 1) {  // landed, and another ball has started
          const int landing = column_after(start[b].ball_col, drift[b], fallen, cols);
          const bool on_paddle = landing == now.paddle || landing == now.paddle + 1;
          REQUIRE(rewards[b] == (on_paddle ? 1.0F : 0.0F));
          caught += on_paddle;
          turned += landing != start[b].ball_col + drift[b] * fallen;
          REQUIRE(now.ball_row == 0);
          start[b] = now;
        } else {
          if (fallen == 1) drift[b] = now.ball_col - start[b].ball_col;
          REQUIRE(std::abs(drift[b]) <= 1);
          REQUIRE(now.ball_row == fallen);
          REQUIRE(now.ball_col == column_after(start[b].ball_col, drift[b], fallen, cols));
          REQUIRE(rewards[b] == 0.0F);
        }
        before[b] = now;
      }
    }
    CHECK(caught > 0);
    CHECK(caught < kEpisodes * kBalls);
    if (rows >= cols) CHECK(turned > 0);
  }
}

TEST_CASE("catch: a look after an action sees the current ball") {
  CatchEnvironment environment = make_catch({12, 9}, 6);
  environment.reset(0);
  for (std::uint32_t t = 0; t < 25; ++t) {
    GuardedMatrix at_ball(6, 2), below_ball(6, 2);
    for (int b = 0; b < 6; ++b) {
      const Region& ball = environment.facts()[b].regions[0];
      at_ball(b, 0) = below_ball(b, 0) = ball.x;
      at_ball(b, 1) = ball.y;
      below_ball(b, 1) = ball.y + (ball.y < 0.5F ? 2.0F : -2.0F) / 12.0F;
    }
    const GuardedMatrix ball = look_at(environment, at_ball);
    const GuardedMatrix beside = look_at(environment, below_ball);
    for (int b = 0; b < 6; ++b) {
      CHECK(ball(b, 0) == 1.0F);
      CHECK(beside(b, 0) == 0.0F);
    }
    act_all(environment, random_actions(environment, t));
  }
}

TEST_CASE("catch: columns, drifts and paddles start uniformly and independently") {
  constexpr int kCols = 7;
  CatchEnvironment environment = make_catch({6, kCols}, 3000);
  environment.reset(0);
  std::vector<int> columns(kCols), paddles(kCols - 1), drifts(3);
  std::vector<double> column, paddle, drift;
  const GuardedMatrix canvases = view_of(environment);
  std::vector<int> start;
  for (int b = 0; b < 3000; ++b) {
    const Screen screen = read_screen(canvases, b, 6, kCols);
    ++columns.at(screen.ball_col);
    ++paddles.at(screen.paddle);
    start.push_back(screen.ball_col);
    column.push_back(screen.ball_col);
    paddle.push_back(screen.paddle);
  }
  act_all(environment, std::vector<int>(3000, 1));
  std::vector<double> inner_column, inner_drift;
  for (int b = 0; b < 3000; ++b) {
    const int moved = environment.facts()[b].boxes[0].x - start[b];
    drift.push_back(moved);
    if (start[b] == 0 || start[b] == kCols - 1) continue;  // at the edge the drift may turn at once
    ++drifts.at(moved + 1);
    inner_column.push_back(start[b]);
    inner_drift.push_back(moved);
  }
  CHECK(std::abs(uniform_deviate(columns)) < 5);
  CHECK(std::abs(uniform_deviate(paddles)) < 5);
  CHECK(std::abs(uniform_deviate(drifts)) < 5);
  CHECK(std::abs(correlation_deviate(column, paddle, 0)) < 5);
  CHECK(std::abs(correlation_deviate(paddle, drift, 0)) < 5);
  CHECK(std::abs(correlation_deviate(inner_column, inner_drift, 0)) < 5);
  CHECK(std::abs(correlation_deviate(column, column, 1)) < 5);
}

// Counts the balls caught, and those that could be, by a player who waits one step to see the drift
// and then goes to the landing column.
struct Score {
  int caught = 0, reachable = 0, balls = 0;
};

Score play_ahead(int rows, int cols, int balls) {
  constexpr int kEpisodes = 50;
  CatchEnvironment environment = make_catch({rows, cols}, kEpisodes);
  environment.reset(0);
  Score score;
  for (int ball = 0; ball < balls; ++ball) {
    std::vector<int> start, goal(kEpisodes);
    for (const SceneFacts& facts : environment.facts()) start.push_back(facts.boxes[0].x);
    std::vector<int> actions(kEpisodes, 1);
    for (int t = 0; t < rows - 1; ++t) {
      const std::vector<float> rewards = act_all(environment, actions);
      const GuardedMatrix canvases = view_of(environment);
      for (int b = 0; b < kEpisodes; ++b) {
        if (t == rows - 2) {
          score.caught += static_cast<int>(rewards[b]);
          actions[b] = 1;
          continue;
        }
        const Screen now = read_screen(canvases, b, rows, cols);
        if (t == 0) {
          const int drift = now.ball_col - start[b];
          const int landing = column_after(start[b], drift, rows - 1, cols);
          // The nearest paddle position that covers it.
          goal[b] = std::clamp(now.paddle, std::max(landing - 1, 0), std::min(landing, cols - 2));
          score.reachable += std::abs(goal[b] - now.paddle) <= rows - 2;
        }
        actions[b] = now.paddle < goal[b] ? 2 : now.paddle > goal[b] ? 0 : 1;
      }
    }
    score.balls += kEpisodes;
  }
  return score;
}

TEST_CASE(
    "catch: a player who goes to the landing column catches every ball on the paper's screen") {
  const Score score = play_ahead(24, 24, 20);
  CHECK(score.balls == 1000);
  CHECK(score.reachable == score.balls);
  CHECK(score.caught == score.balls);

  const Score wide = play_ahead(5, 24, 20);  // too wide to reach every ball in time
  CHECK(wide.reachable < wide.balls / 2);
  CHECK(wide.caught == wide.reachable);
}

TEST_CASE("catch: a random player catches a share of balls close to the paddle's width") {
  constexpr int kEpisodes = 100, kBalls = 40;
  CatchEnvironment environment = make_catch({24, 24}, kEpisodes);
  environment.reset(0);
  double caught = 0.0;
  for (std::uint32_t t = 0; t < kBalls * 23; ++t)
    for (const float reward : act_all(environment, random_actions(environment, t)))
      caught += reward;
  CHECK(caught / (kEpisodes * kBalls) > 0.065);
  CHECK(caught / (kEpisodes * kBalls) < 0.10);
}

TEST_CASE(
    "catch: rollouts of a scene get the same balls, whatever they do and whatever the batch") {
  CatchEnvironment single = make_catch({8, 10}, 1), batch = make_catch({8, 10}, 6, 3);
  CatchEnvironment other_seed = make_catch({8, 10}, 6, 3, 2);
  for (const std::uint64_t first : {0ULL, 5ULL, (1ULL << 32) + 5}) {
    batch.reset(first);
    other_seed.reset(first);
    std::vector<std::array<Box, 6>> seen, others;
    for (std::uint32_t t = 0; t < 40; ++t) {
      const std::vector<float> rewards = act_all(batch, random_actions(batch, t));
      act_all(other_seed, random_actions(batch, t));
      seen.emplace_back();
      others.emplace_back();
      for (int b = 0; b < 6; ++b) {
        seen.back()[b] = batch.facts()[b].boxes[0];
        others.back()[b] = other_seed.facts()[b].boxes[0];
      }
    }
    CHECK(seen != others);
    for (int b = 0; b < 6; ++b) {
      single.reset(first + b / 3);
      bool all = true;
      for (const std::array<Box, 6>& boxes : seen) {
        act_all(single, {1});
        all = all && boxes[b] == single.facts()[0].boxes[0];
      }
      CHECK(all);
    }
    CHECK(std::ranges::any_of(seen, [](const auto& boxes) { return boxes[0] != boxes[3]; }));
  }
}

TEST_CASE("catch: each split has its own games") {
  constexpr int kEpisodes = 200;
  CatchEnvironment train = make_catch({24, 24}, kEpisodes);
  CatchEnvironment valid = make_catch({24, 24}, kEpisodes, 1, 1, Split::valid);
  CatchEnvironment test = make_catch({24, 24}, kEpisodes, 1, 1, Split::test);
  for (CatchEnvironment* each : {&train, &valid, &test}) each->reset(0);
  const auto shared = [](const CatchEnvironment& a, const CatchEnvironment& b) {
    int same = 0;
    for (int i = 0; i < kEpisodes; ++i) same += a.facts()[i].boxes[0] == b.facts()[i].boxes[0];
    return same;
  };
  CHECK(shared(train, valid) < 30);  // 200 / 24 by chance
  CHECK(shared(train, test) < 30);
  CHECK(shared(valid, test) < 30);
}

TEST_CASE("catch: a canvas too small for a game is refused by key") {
  const auto fault = [](int rows, int cols) {
    return message_of<InputError>([&] { make_catch({rows, cols}, 1); });
  };
  CHECK(fault(3, 24) ==
        "scene.canvas: 3 x 24 with scene.kind: catch; allowed: 4 and more pixels a side");
  CHECK(fault(24, 3).find("scene.canvas: 24 x 3") == 0);
  CHECK(fault(4, 4) == "nothing thrown");
}

}  // namespace
}  // namespace saccade
