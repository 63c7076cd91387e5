#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/drawn_environment.h"

namespace saccade {

/// The names of the classes, in order: square, circle.
std::vector<std::string> circle_square_classes();
/// The sizes of its environments, for a canvas (rows, cols).
EnvironmentSizes circle_square_sizes(std::array<int, 2> canvas);
/// The number of different images: two shapes at every pixel.
int circle_square_images(std::array<int, 2> canvas);

/// A white circle or square on a background whose brightness falls with the distance from it: the
/// images of CircleSquare-v0 of ap_gym 0.7.1 (scene.kind: circle_square), with its numbers.
///
/// Image i shows class i mod 2 around the pixel (x, y) = (i / 2 mod cols, i / 2 / cols). A pixel at
/// distance d from there is 1 - d / sqrt(rows^2 + cols^2), rounded to a byte, and white inside the
/// shape: a square of 9 x 9 pixels, or the pixels with d <= 4. Shapes may be cut off by the edge.
/// Each scene shows an image drawn uniformly, as each episode of ap_gym does, in every split.
///
/// The facts hold the visible part of the shape's box as the only digit, and the image as its
/// source.
class CircleSquareEnvironment final : public DrawnEnvironment {
 public:
  /// canvas (rows, cols), in pixels. Keeps a copy of `retina`, which must be for a canvas of this
  /// size with one channel.
  CircleSquareEnvironment(std::array<int, 2> canvas, const Retina& retina, Split split,
                          std::uint64_t seed, int episodes, int rollouts)
      : DrawnEnvironment(circle_square_sizes(canvas), retina, split, seed, episodes, rollouts) {}

 private:
  void draw(RandomStream& stream, std::span<std::uint8_t> pixels, SceneFacts& facts) override;
};

}  // namespace saccade
