#pragma once

#include <span>
#include <string>

#include "env/scene.h"
#include "nn/random.h"

namespace saccade {

/// Where the digits of a scene are placed.
enum class Layout {
  side_by_side,   // centred on the canvas
  anywhere,       // each at a uniform place
  tiles,          // each centred in its own tile
  left_to_right,  // at uniform places that do not overlap along x
};

/// Throws InputError naming the key unless `config.num_digits` digits of `digit` pixels fit.
void check_layout(Layout layout, const SceneConfig& config, Box digit);

/// Places digits of `digit` pixels: writes boxes (n), n <= config.num_digits. The config must have
/// passed check_layout().
void place_digits(Layout layout, const SceneConfig& config, Box digit, RandomStream& stream,
                  std::span<Box> boxes);

/// Draws a corner uniformly so that a square of `side` pixels stays inside the border, both ends
/// inclusive.
int random_corner(int canvas_side, int side, int border, RandomStream& stream);

}  // namespace saccade
