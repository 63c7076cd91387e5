#pragma once

#include <span>
#include <string>

#include "env/scene.h"
#include "nn/random.h"

namespace saccade {

/// Where the digits of a scene lie.
enum class Layout {
  side_by_side,   // in the middle of the canvas
  anywhere,       // each at a uniform place
  tiles,          // each in the middle of a tile of its own
  left_to_right,  // apart from each other along x, at uniform places
};

/// Throws InputError naming the key unless `config.num_digits` digits of `digit` pixels fit so.
void check_layout(Layout layout, const SceneConfig& config, Box digit);

/// Places digits of `digit` pixels: boxes (n). At most config.num_digits, which check_layout() has
/// let pass.
void place_digits(Layout layout, const SceneConfig& config, Box digit, RandomStream& stream,
                  std::span<Box> boxes);

/// Uniform over all corners that keep a square of `side` pixels inside the border, both ends
/// included.
int random_corner(int canvas_side, int side, int border, RandomStream& stream);

}  // namespace saccade
