#pragma once

#include <span>
#include <string>

#include "env/scene_config.h"
#include "env/scene_facts.h"
#include "nn/random.h"

namespace saccade {

/// Where the digits of a scene are placed.
enum class Layout {
  side_by_side,   // centred on the canvas
  anywhere,       // each at a uniform place
  tiles,          // each centred in its own tile
  left_to_right,  // at uniform places that do not overlap along x
};

/// The parts of a canvas: rows x cols equal tiles, row by row from the upper left.
struct TileGrid {
  int rows = 1;
  int cols = 1;
};

/// Tiles for `count` > 0 digits: floor(sqrt(count)) rows, and as many columns as that takes. The
/// policy `scan` walks `count` glimpses over their centres by the same rule.
TileGrid tile_grid(int count);

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
