#include "attention/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace saccade {
namespace {

constexpr int kMostCells = 64;  // along an axis

}  // namespace

void spread_over(GridConfig& config, int canvas_rows, int canvas_cols) {
  const auto [shorter, longer] = std::minmax({canvas_rows, canvas_cols});
  const double root = std::sqrt(static_cast<double>(shorter));
  const int wanted = std::max(1, static_cast<int>(std::lround(0.8 * root)));
  constexpr int kMost = kMostCells + 2;  // strides: 64 cells have 63 between them, 1.5 at each edge
  const int least = (longer + kMost - 1) / kMost;
  config.stride = std::max(wanted, least);
  spread_cells(config, canvas_rows, canvas_cols);
}

void spread_cells(GridConfig& config, int canvas_rows, int canvas_cols) {
  const auto cells = [&](int side) { return std::clamp(side / config.stride - 1, 1, kMostCells); };
  config.cells = {cells(canvas_rows), cells(canvas_cols)};
}

Tensor<2> grid_places(const GridConfig& config, int canvas_rows, int canvas_cols) {
  const bool tiled = config.tiles[0] > 0 || config.tiles[1] > 0;
  const std::array<int, 2> cells = tiled ? config.tiles : config.cells;
  const std::array<int, 2> sides = {canvas_rows, canvas_cols};
  std::array<double, 2> spacing{}, first{};  // pixels, for rows and columns
  for (int axis = 0; axis < 2; ++axis) {
    const int span = (cells[axis] - 1) * config.stride;
    if (tiled && (cells[axis] < 1 || sides[axis] % cells[axis] != 0))
      throw SettingError(
          {"attention.glimpse.tiles"},
          fmt::format(
              "attention.glimpse.tiles: [{}, {}] do not part a canvas of {} x {} pixels; allowed: "
              "divisors of its sides",
              cells[0], cells[1], canvas_rows, canvas_cols));
    if (!tiled && span > sides[axis])
      throw SettingError(
          {"attention.glimpse.grid", "attention.glimpse.stride"},
          fmt::format("attention.glimpse.grid: [{}, {}] candidates {} pixels apart "
                      "(attention.glimpse.stride) "
                      "span {} pixels; allowed: at most the canvas ({} x {})",
                      cells[0], cells[1], config.stride, span, canvas_rows, canvas_cols));
    spacing[axis] = tiled ? static_cast<double>(sides[axis]) / cells[axis] : config.stride;
    first[axis] = 0.5 * (sides[axis] - (cells[axis] - 1) * spacing[axis]);
  }

  Tensor<2> places = zeros<2>(cells[0] * cells[1], 2);
  const auto location = [&](int axis, int cell) {
    return static_cast<float>(2.0 * (first[axis] + cell * spacing[axis]) / sides[axis] - 1.0);
  };
  for (int k = 0; k < cells[0] * cells[1]; ++k) {
    places(k, 0) = location(1, k % cells[1]);
    places(k, 1) = location(0, k / cells[1]);
  }
  return places;
}

Tensor<2> grid_moves(const GridConfig& config) {
  const auto [rows, cols] = config.cells;
  if (rows % 2 == 0 || cols % 2 == 0)
    throw SettingError(
        {"attention.glimpse.grid", "attention.glimpse.moves"},
        fmt::format("attention.glimpse.grid: [{}, {}] has no middle, which stays in place with "
                    "attention.glimpse.moves: relative; allowed: odd numbers",
                    rows, cols));
  Tensor<2> moves = zeros<2>(rows * cols, 2);
  const auto action = [](int cell, int cells) {
    const int half = cells / 2;
    return half > 0 ? static_cast<float>(cell - half) / static_cast<float>(half) : 0.0F;
  };
  for (int k = 0; k < rows * cols; ++k) {
    moves(k, 0) = action(k % cols, cols);
    moves(k, 1) = action(k / cols, rows);
  }
  return moves;
}

int nearest_place(ConstMatrix places, float x, float y) {
  const auto distance = [&](int k) {
    const float dx = places(k, 0) - x, dy = places(k, 1) - y;
    return dx * dx + dy * dy;
  };
  int nearest = 0;
  for (int k = 1; k < places.rows; ++k)
    if (distance(k) < distance(nearest)) nearest = k;
  return nearest;
}

}  // namespace saccade
