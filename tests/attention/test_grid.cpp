#include "attention/grid.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "attention/policy.h"
#include "base/error.h"
#include "tests/support.h"

namespace saccade {
namespace {

struct GridPlace {
  double x, y;
};

void check_places(const Tensor<2>& places, const std::vector<GridPlace>& expected) {
  REQUIRE(places.shape()[0] == expected.size());
  REQUIRE(places.shape()[1] == 2);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CAPTURE(k);
    CHECK(places(k, 0) == doctest::Approx(expected[k].x));
    CHECK(places(k, 1) == doctest::Approx(expected[k].y));
  }
}

std::string fault(const GridConfig& config, int rows, int cols) {
  return message_of<InputError>([&] { grid_places(config, rows, cols); });
}

TEST_CASE("candidates are at positions calculated by hand") {
  // Odd: pixels 0, 10, 20 of 20. Even: pixels 5 and 15.
  check_places(grid_places({.cells = {3, 3}, .stride = 10}, 20, 20),
               {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {0, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}});
  check_places(grid_places({.cells = {2, 2}, .stride = 10}, 20, 20),
               {{-0.5, -0.5}, {0.5, -0.5}, {-0.5, 0.5}, {0.5, 0.5}});
  // 2 rows and 3 columns on 16 x 40: rows at pixels 6 and 10, columns at 16, 20 and 24.
  check_places(grid_places({.cells = {2, 3}, .stride = 4}, 16, 40),
               {{-0.2, -0.25}, {0.0, -0.25}, {0.2, -0.25}, {-0.2, 0.25}, {0.0, 0.25}, {0.2, 0.25}});
  // An odd side: pixels 3.5 and 9.5 of 13.
  check_places(grid_places({.cells = {1, 2}, .stride = 6}, 9, 13),
               {{-6.0 / 13.0, 0.0}, {6.0 / 13.0, 0.0}});
  check_places(grid_places({.cells = {1, 1}, .stride = 500}, 9, 13), {{0.0, 0.0}});
}

TEST_CASE("the default grid covers the canvas") {
  const auto covering = [](int rows, int cols) {
    GridConfig config;
    spread_over(config, rows, cols);
    grid_places(config, rows, cols);  // does not throw
    return std::array{config.cells[0], config.cells[1], config.stride};
  };
  CHECK(covering(60, 60) == std::array{9, 9, 6});
  CHECK(covering(40, 40) == std::array{7, 7, 5});
  CHECK(covering(100, 50) == std::array{15, 7, 6});
  CHECK(covering(8, 8) == std::array{3, 3, 2});
  CHECK(covering(396, 60) == std::array{64, 9, 6});  // the longest with the stride of 60
  CHECK(covering(397, 60) == std::array{55, 7, 7});  // 64 cells 6 pixels apart would not reach
  CHECK(covering(60, 2048) == std::array{1, 63, 32});
}

TEST_CASE("the outermost places of the default grid are at most 1.5 strides from the edges") {
  for (const int rows : {8, 60, 100, 397, 1000, 2048})
    for (const int cols : {8, 13, 60, 512, 2048}) {
      CAPTURE(rows);
      CAPTURE(cols);
      GridConfig config;
      spread_over(config, rows, cols);
      const Tensor<2> places = grid_places(config, rows, cols);
      const std::array sides = {cols, rows};
      const std::size_t last = places.shape()[0] - 1;
      for (const int axis : {0, 1}) {
        const double margin = 0.5 * (1.0 + places(0, axis)) * sides[axis];  // pixels
        CHECK(margin <= 1.5 * config.stride + 1e-3);
        CHECK(0.5 * (1.0 - places(last, axis)) * sides[axis] == doctest::Approx(margin));
      }
    }
}

TEST_CASE("spread_cells keeps the stride and covers the canvas with it") {
  GridConfig config{.stride = 4};
  spread_cells(config, 60, 30);
  CHECK(config.stride == 4);
  CHECK(config.cells == std::array{14, 6});
  spread_cells(config, 2048, 5);
  CHECK(config.cells == std::array{64, 1});
}

TEST_CASE("tiles partition the canvas, whatever grid and stride say") {
  // 2 x 4 tiles of 6 x 10 pixels on 12 x 40.
  std::vector<GridPlace> expected;
  for (const double row : {3.0, 9.0})
    for (const double col : {5.0, 15.0, 25.0, 35.0})
      expected.push_back({col / 20.0 - 1.0, row / 6.0 - 1.0});
  for (const int stride : {1, 500})
    check_places(grid_places({.stride = stride, .tiles = {2, 4}}, 12, 40), expected);
  check_places(grid_places({.tiles = {1, 1}}, 12, 40), {{0.0, 0.0}});

  // Every pixel's nearest place is that of its own tile.
  constexpr int kRows = 12, kCols = 40;
  const Tensor<2> places = grid_places({.tiles = {2, 4}}, kRows, kCols);
  std::vector<int> pixels(8);
  for (int row = 0; row < kRows; ++row)
    for (int col = 0; col < kCols; ++col) {
      const int tile = row / 6 * 4 + col / 10;
      ++pixels[tile];
      for (const int axis : {0, 1}) {
        const double at = axis == 0 ? (col + 0.5) / kCols : (row + 0.5) / kRows;
        const double centre = 0.5 * (places(tile, axis) + 1.0);
        CHECK(std::abs(at - centre) < 0.5 / (axis == 0 ? 4 : 2));
      }
    }
  CHECK(pixels == std::vector<int>(8, 60));
}

TEST_CASE("a grid is symmetric about the centre and stays on the canvas") {
  for (const int rows : {1, 2, 5, 8})
    for (const int cols : {1, 3, 6})
      for (const int stride : {1, 5})
        for (const bool tiled : {false, true}) {
          CAPTURE(rows);
          CAPTURE(cols);
          CAPTURE(stride);
          const GridConfig config{.cells = {rows, cols},
                                  .stride = stride,
                                  .tiles = tiled ? std::array{rows, cols} : std::array{0, 0}};
          const Tensor<2> places = grid_places(config, 40, 30);
          const int count = rows * cols;
          REQUIRE(places.shape()[0] == static_cast<std::size_t>(count));
          for (int k = 0; k < count; ++k)
            for (const int axis : {0, 1}) {
              CHECK(std::abs(places(k, axis) + places(count - 1 - k, axis)) < 1e-6F);
              CHECK(std::abs(places(k, axis)) <= 1.0F);
            }
        }
}

TEST_CASE("a grid that fills the canvas reaches its edges but not beyond") {
  for (const int side : {8, 13, 49, 60, 97}) {
    const Tensor<2> places = grid_places({.cells = {2, 2}, .stride = side}, side, side);
    CHECK(places(0, 0) == -1.0F);
    CHECK(places(0, 1) == -1.0F);
    CHECK(places(3, 0) == 1.0F);
    CHECK(places(3, 1) == 1.0F);
  }
}

TEST_CASE("the steps of a grid are evenly spaced, and the middle one stays") {
  check_places(grid_moves({.cells = {3, 5}, .stride = 500, .tiles = {2, 2}}), {{-1, -1},
                                                                               {-0.5, -1},
                                                                               {0, -1},
                                                                               {0.5, -1},
                                                                               {1, -1},
                                                                               {-1, 0},
                                                                               {-0.5, 0},
                                                                               {0, 0},
                                                                               {0.5, 0},
                                                                               {1, 0},
                                                                               {-1, 1},
                                                                               {-0.5, 1},
                                                                               {0, 1},
                                                                               {0.5, 1},
                                                                               {1, 1}});
  check_places(grid_moves({.cells = {1, 3}}), {{-1, 0}, {0, 0}, {1, 0}});
  check_places(grid_moves({.cells = {1, 1}}), {{0, 0}});
  for (const std::array<int, 2> cells : {std::array{2, 3}, {3, 64}})
    CHECK(message_of<InputError>([&] { grid_moves({.cells = cells}); }) ==
          fmt::format("attention.glimpse.grid: [{}, {}] has no middle, which stays in place with "
                      "attention.glimpse.moves: relative; allowed: odd numbers",
                      cells[0], cells[1]));
}

TEST_CASE("nearest_place returns the nearest candidate, or the first of equals") {
  const Tensor<2> places = grid_places({.cells = {2, 3}, .stride = 10}, 40, 40);
  const ConstMatrix all = matrix(places);
  for (int k = 0; k < 6; ++k) {
    CHECK(nearest_place(all, places(k, 0), places(k, 1)) == k);
    CHECK(nearest_place(all, places(k, 0) + 0.2F, places(k, 1) - 0.2F) == k);
  }
  CHECK(nearest_place(all, -1.0F, -1.0F) == 0);
  CHECK(nearest_place(all, 1.0F, -1.0F) == 2);
  CHECK(nearest_place(all, -9.0F, 9.0F) == 3);
  CHECK(nearest_place(all, 1.0F, 1.0F) == 5);
  CHECK(nearest_place(all, 0.0F, 0.0F) == 1);  // at equal distance from 4
}

TEST_CASE("a grid that does not fit is refused with its keys and values") {
  CHECK(fault({.cells = {3, 8}, .stride = 6}, 40, 41) ==
        "attention.glimpse.grid: [3, 8] candidates 6 pixels apart (attention.glimpse.stride) span "
        "42 pixels; allowed: at most the canvas (40 x 41)");
  CHECK(fault({.cells = {8, 3}, .stride = 6}, 41, 60) ==
        "attention.glimpse.grid: [8, 3] candidates 6 pixels apart (attention.glimpse.stride) span "
        "42 pixels; allowed: at most the canvas (41 x 60)");
  CHECK(fault({.cells = {8, 8}, .stride = 6}, 42, 42) == "nothing thrown");
}

TEST_CASE("tiles that do not partition the canvas are refused with key and values") {
  const auto tiles_fault = [](int rows, int cols) {
    return fmt::format(
        "attention.glimpse.tiles: [{}, {}] do not part a canvas of 12 x 40 pixels; allowed: "
        "divisors of its sides",
        rows, cols);
  };
  for (const auto& [rows, cols] : {std::array{5, 4}, {4, 3}, {0, 4}, {4, 0}, {13, 4}, {24, 4}}) {
    CAPTURE(rows);
    CAPTURE(cols);
    CHECK(fault({.tiles = {rows, cols}}, 12, 40) == tiles_fault(rows, cols));
  }
  CHECK(fault({.tiles = {12, 40}}, 12, 40) == "nothing thrown");
}

}  // namespace
}  // namespace saccade
