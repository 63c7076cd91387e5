#pragma once

#include <array>

#include "nn/tensor.h"

namespace saccade {

/// Keys: attention.glimpse.grid, stride, tiles
struct GridConfig {
  std::array<int, 2> cells = {9, 9};  // rows, cols of candidates
  int stride = 6;                     // pixels from one to the next
  std::array<int, 2> tiles = {0, 0};  // rows, cols of a partition of the canvas, in place of both
};

/// Writes the cells and the stride that cover a canvas about as 9 x 9 at 6 pixels cover 60 x 60:
/// the stride grows with the root of its shorter side, 0.8 of it, so that a larger canvas has more
/// candidates as well.
void spread_over(GridConfig& config, int canvas_rows, int canvas_cols);

/// The centres of the G = rows * cols candidate glimpses, (G, 2), row by row from the upper left:
/// a grid in the middle of the canvas, or the centres of tiles that part it. Throws InputError
/// naming the keys where a centre would leave the canvas or the tiles do not part it.
Tensor<2> grid_places(const GridConfig& config, int canvas_rows, int canvas_cols);

/// The candidate nearest to location (x, y), measured in half canvases; the first of equals.
int nearest_place(ConstMatrix places, float x, float y);

}  // namespace saccade
