#include "env/circle_square.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "tests/env/environment_calls.h"
#include "tests/env/environment_contract.h"
#include "tests/statistics.h"

namespace saccade {
namespace {

CircleSquareEnvironment make_shapes(std::array<int, 2> canvas, int episodes, int rollouts = 1,
                                    Split split = Split::train) {
  return {canvas, Retina({5, 1, 2}, canvas[0], canvas[1], 1), split, 1, episodes, rollouts};
}

}  // namespace

TEST_CASE("circle_square satisfies the environment contract") {
  for (const auto& [rows, cols] : {std::array{28, 28}, {8, 30}})
    for (const int rollouts : {1, 3}) {
      CAPTURE(rows);
      CAPTURE(rollouts);
      const Retina retina({4, 2, 2}, rows, cols, 1);
      const auto make = [&] {
        return std::make_unique<CircleSquareEnvironment>(std::array{rows, cols}, retina,
                                                         Split::train, 1, 6, rollouts);
      };
      check_environment(make, rows, cols);
      check_grid(make);
      check_canvases(make, rows, cols);
      rollouts == 1 ? check_restarts(make) : check_no_restarts(make);
    }
}

TEST_CASE("circle_square draws the shape of the label in its box, on a slope that leads there") {
  constexpr int kRows = 20, kCols = 26, kEpisodes = 64;
  auto environment = make_shapes({kRows, kCols}, kEpisodes);
  environment.reset(0);
  const GuardedMatrix canvases = view_of(environment);
  for (int b = 0; b < kEpisodes; ++b) {
    CAPTURE(b);
    const SceneFacts& facts = environment.facts()[b];
    const int image = facts.sources[0], x = image / 2 % kCols, y = image / 2 / kCols;
    CHECK(facts.label == image % 2);
    int white = 0, left = kCols, right = -1, top = kRows, bottom = -1;
    for (int row = 0; row < kRows; ++row)
      for (int col = 0; col < kCols; ++col) {
        const double d = std::hypot(col - x, row - y);
        const bool inside =
            facts.label == 0 ? std::max(std::abs(col - x), std::abs(row - y)) <= 4 : d <= 4.0;
        const double bright = inside ? 1.0 : 1.0 - d / std::hypot(kRows, kCols);
        CHECK(std::abs(canvases(b, row * kCols + col) - bright) <= 0.5 / 255 + 1e-6);
        if (!inside) continue;
        ++white;
        left = std::min(left, col);
        right = std::max(right, col);
        top = std::min(top, row);
        bottom = std::max(bottom, row);
      }
    CHECK(facts.boxes[0] == Box{left, top, right - left + 1, bottom - top + 1});
    if (left > 0 && right < kCols - 1 && top > 0 && bottom < kRows - 1)
      CHECK(white == (facts.label == 0 ? 81 : 49));
  }
}

TEST_CASE("circle_square draws every image equally often, others in each split and for each seed") {
  constexpr int kSide = 8, kEpisodes = 12800;
  CHECK(circle_square_images({kSide, kSide}) == 128);
  std::set<std::vector<int>> sequences;
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    auto environment = make_shapes({kSide, kSide}, kEpisodes, 1, split);
    environment.reset(0);
    std::vector<int> counts(128), images;
    for (const SceneFacts& facts : environment.facts()) {
      ++counts[facts.sources[0]];
      images.push_back(facts.sources[0]);
    }
    CHECK(std::abs(uniform_deviate(counts)) < 5.0);
    sequences.insert(images);
  }
  CHECK(sequences.size() == 3);
}

}  // namespace saccade
