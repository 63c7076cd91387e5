#pragma once

#include <array>

#include "nn/tensor.h"

namespace saccade {

/// Keys: attention.glimpse.grid, stride, tiles
struct GridConfig {
  std::array<int, 2> cells = {9, 9};  // rows, cols of candidates; of relative moves odd
  int stride = 6;                     // pixels between neighbours
  std::array<int, 2> tiles = {0, 0};  // rows, cols of tiles, in place of cells and stride
};

/// Writes cells and a stride that cover a canvas about as 9 x 9 cells at 6 pixels cover 60 x 60:
/// the stride is 0.8 times the square root of the shorter side, so a larger canvas also gets more
/// candidates. If the longer side then needs more than 64 cells, the stride is the least with which
/// 64 cells cover it.
void spread_over(GridConfig& config, int canvas_rows, int canvas_cols);

/// Writes the cells alone, 1 to 64 along each side, that cover a canvas with the stride that the
/// config has: the outermost are at most 1.5 strides from the edges, unless that takes more
/// than 64.
void spread_cells(GridConfig& config, int canvas_rows, int canvas_cols);

/// Returns the centres of the G = rows * cols candidate glimpses, (G, 2), row by row from the upper
/// left: a grid centred on the canvas, or the centres of tiles that partition it. Throws InputError
/// naming the keys if a centre would lie outside the canvas or the tiles do not divide it.
Tensor<2> grid_places(const GridConfig& config, int canvas_rows, int canvas_cols);

/// The default cells of relative moves: whole and half steps in all directions.
inline constexpr std::array<int, 2> kMoveCells = {5, 5};

/// Returns the actions (G, 2) of relative moves (moves.h) that the cells offer, row by row from the
/// upper left: evenly spaced over [-1, 1]^2, so that the middle one stays where it is. Throws
/// InputError naming the key if there is no middle one.
Tensor<2> grid_moves(const GridConfig& config);

/// Returns the candidate nearest to location (x, y), measured in half canvases; the first of
/// equals.
int nearest_place(ConstMatrix places, float x, float y);

}  // namespace saccade
