#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/split.h"
#include "nn/random.h"

namespace saccade {

/// The names of the actions, in order: left, stay, right.
std::vector<std::string> catch_actions();
/// The sizes of its environments, for a canvas (rows, cols). Throws InputError (scene.canvas) if a
/// side has fewer than four pixels.
EnvironmentSizes catch_sizes(std::array<int, 2> canvas);

/// Catch (Mnih et al. 2014, section 4.2, "Dynamic environments"; scene.kind: catch): a ball of one
/// white pixel falls down a black canvas, and the agent moves a paddle of two pixels in the bottom
/// row to catch it.
///
/// An act moves the paddle by one pixel, stopped by the sides, and at the same time moves the ball
/// down by one row and sideways by its drift. The reward is 1 if this brings the ball into the
/// bottom row and onto the paddle, else 0. Choices that the paper leaves open: a ball starts at a
/// uniform column of the top row with a uniform drift of -1, 0 or 1 columns per step and bounces
/// off the sides; once it lands, the next ball appears in the top row at once, so that a landing is
/// rewarded but never seen; the paddle starts at a uniform place and stays where it is between
/// balls. Balls keep falling for as long as there are acts.
///
/// The facts hold the ball's current position as the only digit and box; label and length are 0.
class CatchEnvironment final : public RetinaEnvironment {
 public:
  /// canvas (rows, cols), in pixels. Keeps a copy of `retina`, which must be for a canvas of this
  /// size with one channel. `rollouts` (M) consecutive episodes share a scene: the paddle's start
  /// and all future balls. So B episodes use B / M scenes; episodes is a multiple of rollouts.
  /// Scene n differs between the splits. Throws InputError as catch_sizes().
  CatchEnvironment(std::array<int, 2> canvas, const Retina& retina, Split split, std::uint64_t seed,
                   int episodes, int rollouts);

  int num_classes() const override { return 3; }
  CanvasSize canvas() const override { return {1, rows_, cols_}; }
  AnswerKind answer_kind() const override { return AnswerKind::actions; }
  /// One for each ball that lands.
  float best_return(int acts) const override { return static_cast<float>(acts / steps_per_ball()); }

  /// Acts from the start of a ball to its landing.
  int steps_per_ball() const { return rows_ - 1; }

 private:
  struct Game {
    RandomStream stream;
    int row, col, drift;  // of the ball
    int paddle;           // column of its left pixel
  };

  void begin(std::uint64_t first_scene) override;
  void begin_one(int episode, std::uint64_t scene) override;
  void advance(std::span<const int> actions, std::span<float> rewards) override;

  void start_game(int episode, std::uint64_t scene);
  void start_ball(Game& game) const;
  float step(Game& game, int action) const;
  void show_game(int episode);

  int rows_, cols_;
  Split split_;
  std::uint64_t seed_;
  int rollouts_;
  std::vector<Game> games_;           // (B)
  std::vector<std::uint8_t> canvas_;  // (rows, cols), of one episode; black between uses
};

}  // namespace saccade
