#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "env/retina.h"
#include "env/scene.h"
#include "env/scene_layout.h"
#include "tests/env/digit_fixtures.h"
#include "tests/statistics.h"
#include "tests/support.h"

// Scenes of the tasks that need attention over time: bag and transcribe.
namespace saccade {
namespace {

// Index of the digit at place k of scene n, in file order.
int index_of(const SceneConfig& config, const Dataset& digits, std::uint64_t number, int k) {
  return static_cast<int>((number * config.num_digits + k) % digits.size());
}

// The canvas (rows, cols) with only the digits, at the returned boxes.
std::vector<std::uint8_t> naive_canvas(const SceneConfig& config, const Dataset& digits,
                                       std::uint64_t number, const SceneFacts& facts) {
  const auto [rows, cols] = config.canvas;
  std::vector<std::uint8_t> canvas(static_cast<std::size_t>(rows) * cols);
  for (int k = 0; k < facts.num_digits; ++k)
    for (int row = 0; row < digits.rows(); ++row)
      for (int col = 0; col < digits.cols(); ++col)
        canvas.at((facts.boxes[k].y + row) * cols + facts.boxes[k].x + col) =
            digits.images(index_of(config, digits, number, k), row, col, 0);
  return canvas;
}

// Counts scenes with min_digits, min_digits + 1, ... digits.
std::vector<int> counts_of_digits(const SceneConfig& config, const Dataset& digits, int scenes) {
  const SceneMaker maker(config, {}, digits, DigitOrder::shuffled, 1);
  std::vector<int> counts(config.num_digits - config.min_digits + 1);
  for (int n = 0; n < scenes; ++n) ++counts.at(draw(maker, n).facts.num_digits - config.min_digits);
  return counts;
}

TEST_CASE("the numbers of tile rows and columns are about equal") {
  const std::map<int, std::pair<int, int>> expected = {
      {1, {1, 1}}, {2, {1, 2}}, {3, {1, 3}}, {4, {2, 2}},  {5, {2, 3}},  {6, {2, 3}},
      {7, {2, 4}}, {8, {2, 4}}, {9, {3, 3}}, {10, {3, 4}}, {15, {3, 5}}, {16, {4, 4}}};
  for (const auto& [count, grid] : expected) {
    CAPTURE(count);
    CHECK(tile_grid(count).rows == grid.first);
    CHECK(tile_grid(count).cols == grid.second);
  }
}

TEST_CASE("a bag has one digit per tile from the upper left, and is black elsewhere") {
  for (const auto& [count, least] : {std::pair{1, 0}, {5, 0}, {8, 1}, {9, 9}, {16, 3}}) {
    CAPTURE(count);
    const Dataset digits = noise_digits(23, 7, 6, 1, 10);
    const SceneConfig config{
        .kind = "bag", .canvas = {33, 41}, .num_digits = count, .min_digits = least};
    const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
    const auto [tile_rows, tile_cols] = tile_grid(count);
    CHECK(maker.num_classes() == 10);
    CHECK(maker.max_symbols() == 0);
    for (std::uint64_t n = 0; n < 40; ++n) {
      const Scene scene = draw(maker, n);
      REQUIRE(scene.canvas == naive_canvas(config, digits, n, scene.facts));
      for (int k = 0; k < scene.facts.num_digits; ++k) {
        const Box& box = scene.facts.boxes[k];
        const double left = 41.0 * (k % tile_cols) / tile_cols, width = 41.0 / tile_cols;
        const double top = 33.0 * (k / tile_cols) / tile_rows, height = 33.0 / tile_rows;
        CHECK(std::abs(box.x + 3.0 - (left + 0.5 * width)) <= 0.5);
        CHECK(std::abs(box.y + 3.5 - (top + 0.5 * height)) <= 0.5);
      }
      for (int k = scene.facts.num_digits; k < kMaxDigits; ++k)
        CHECK(scene.facts.boxes[k] == Box{});
    }
  }
}

TEST_CASE("a retina at the tiles' centres sees each digit of a bag, pixel by pixel") {
  for (const auto& [rows, cols] : {std::pair{33, 41}, {32, 40}, {18, 36}, {19, 38}})
    for (const int side : {8, 9}) {
      const Dataset digits = noise_digits(23, side, side, 1, 10);
      const SceneConfig config{.kind = "bag", .canvas = {rows, cols}, .num_digits = 7};
      const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
      const Retina retina({side, 1, 2}, rows, cols, 1);
      std::vector<std::byte> prepared(retina.prepared_size());
      std::vector<float> glimpse(retina.glimpse_size());
      retina.prepare(draw(maker, 3).canvas, prepared);
      const auto centre = [](int tile, int tiles) {
        return (2.0F * static_cast<float>(tile) + 1.0F) / static_cast<float>(tiles) - 1.0F;
      };
      for (int k = 0; k < 7; ++k) {  // 2 x 4 tiles
        retina.look(prepared, centre(k % 4, 4), centre(k / 4, 2), glimpse.data());
        for (int i = 0; i < side * side; ++i)
          REQUIRE(glimpse[i] == doctest::Approx(digits.images(index_of(config, digits, 3, k),
                                                              i / side, i % side, 0) /
                                                255.0));
      }
    }
}

TEST_CASE("the answer of a bag is its largest digit, and every copy of it counts") {
  const Dataset digits = noise_digits(97, 3, 3, 1, 10);
  const SceneConfig config{
      .kind = "bag", .canvas = {12, 15}, .num_digits = 6, .min_digits = 1, .label = "pair"};
  const SceneMaker maker(config, {}, digits, DigitOrder::shuffled, 1);
  const SceneMaker in_order(config, {}, digits, DigitOrder::fixed, 1);
  int several = 0;
  for (std::uint64_t n = 0; n < 500; ++n) {
    const SceneFacts facts = draw(maker, n).facts;
    CHECK(facts.length == facts.num_digits);
    int largest = -1;
    for (int k = 0; k < facts.num_digits; ++k) largest = std::max(largest, facts.classes[k]);
    CHECK(facts.label == largest);
    for (int k = 0; k < kMaxDigits; ++k)
      CHECK(facts.is_answer[k] == (k < facts.num_digits && facts.classes[k] == largest));
    several += std::ranges::count(facts.is_answer, true) > 1;

    const SceneFacts ordered = draw(in_order, n).facts;
    for (int k = 0; k < ordered.num_digits; ++k)
      CHECK(ordered.classes[k] == digits.labels(index_of(config, digits, n, k)));
  }
  CHECK(several > 20);
}

TEST_CASE("the number of digits is uniform between its bounds") {
  const Dataset digits = noise_digits(31, 3, 3, 1, 10);
  for (const char* kind : {"bag", "transcribe"})
    for (const auto& [least, most] : {std::pair{1, 5}, {2, 16}, {4, 4}}) {
      CAPTURE(kind);
      CAPTURE(most);
      SceneConfig config{.kind = kind,
                         .canvas = {12, 60},
                         .num_digits = most,
                         .min_digits = least,
                         .num_distractors = 0};
      const std::vector<int> counts = counts_of_digits(config, digits, 3000);
      if (least < most) CHECK(std::abs(uniform_deviate(counts)) < 5);
      config.min_digits = 0;
      CHECK(counts_of_digits(config, digits, 50).back() == 50);
    }
}

TEST_CASE("transcribe asks for the digits from left to right, which never share a column") {
  const Dataset digits = noise_digits(41, 6, 5, 1, 10);
  const SceneConfig config{.kind = "transcribe",
                           .canvas = {14, 40},
                           .num_digits = 6,
                           .min_digits = 2,
                           .label = "pair",
                           .num_distractors = 0,
                           .border = 2};
  const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
  CHECK(maker.num_classes() == 11);
  CHECK(maker.max_symbols() == 7);
  for (std::uint64_t n = 0; n < 300; ++n) {
    const Scene scene = draw(maker, n);
    const SceneFacts& facts = scene.facts;
    REQUIRE(scene.canvas == naive_canvas(config, digits, n, facts));
    CHECK(facts.label == 0);
    CHECK(facts.length == 0);
    REQUIRE(facts.num_symbols == facts.num_digits + 1);
    CHECK(facts.symbols[facts.num_digits] == 10);
    for (int k = 0; k < facts.num_digits; ++k) {
      const Box& box = facts.boxes[k];
      CHECK(facts.classes[k] == digits.labels(index_of(config, digits, n, k)));
      CHECK(facts.symbols[k] == facts.classes[k]);
      CHECK(facts.is_answer[k]);
      CHECK(box.x >= (k == 0 ? 2 : facts.boxes[k - 1].x + 5));
      CHECK(box.x + 5 <= 38);
      CHECK(box.y >= 2);
      CHECK(box.y + 6 <= 12);
    }
  }
}

TEST_CASE("transcribe: all placements without a shared column are equally likely") {
  for (const auto& [count, border, placements] :
       {std::array{1, 0, 7}, {2, 0, 15}, {3, 1, 1}, {3, 0, 10}, {4, 0, 1}}) {
    CAPTURE(count);
    const Dataset digits = noise_digits(13, 2, 2, 1, 10);
    const SceneConfig config{.kind = "transcribe",
                             .canvas = {5, 8},
                             .num_digits = count,
                             .num_distractors = 0,
                             .border = border};
    const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
    std::map<std::vector<int>, int> places;  // along x
    std::vector<int> rows(4 - 2 * border);
    std::vector<double> along_x, along_y, next_y;
    for (std::uint64_t n = 0; n < 3000; ++n) {
      const SceneFacts facts = draw(maker, n).facts;
      std::vector<int> place;
      for (int k = 0; k < count; ++k) {
        place.push_back(facts.boxes[k].x);
        ++rows.at(facts.boxes[k].y - border);
      }
      ++places[place];
      along_x.push_back(facts.boxes[0].x);
      along_y.push_back(facts.boxes[0].y);
      next_y.push_back(facts.boxes[count - 1].y);
    }
    REQUIRE(static_cast<int>(places.size()) == placements);
    CHECK(std::abs(uniform_deviate(rows)) < 5);
    if (count > 1) CHECK(std::abs(correlation_deviate(along_y, next_y, 0)) < 5);
    if (placements == 1) continue;
    std::vector<int> counts;
    for (const auto& [place, times] : places) counts.push_back(times);
    CHECK(std::abs(uniform_deviate(counts)) < 5);
    CHECK(std::abs(correlation_deviate(along_x, along_y, 0)) < 5);
  }
}

TEST_CASE("transcribe has distractors beneath its digits, a bag has none") {
  const Dataset ones = make_digits(4, 4, 4, 1, 4, [](int, int, int, int) { return 1; });
  for (const int count : {0, 1, 7}) {
    SceneConfig config{.kind = "transcribe",
                       .canvas = {9, 30},
                       .num_digits = 3,
                       .num_distractors = count,
                       .distractor_size = 3};
    const auto ink = [&] {
      const SceneMaker maker(config, {}, ones, DigitOrder::fixed, 1);
      int sum = 0;
      for (const int pixel : draw(maker, 5).canvas) sum += pixel;
      return sum;
    };
    CHECK(ink() == count * 9 + 3 * 16);
    config.kind = "bag";
    CHECK(ink() == 3 * 16);
  }
}

TEST_CASE("an impossible bag or transcript is refused by key") {
  const Dataset digits = noise_digits(3, 8, 6, 1, 3);
  const auto fault = [&](const SceneConfig& config) {
    return message_of<InputError>([&] { SceneMaker(config, {}, digits, DigitOrder::fixed, 1); });
  };
  const auto bag = [&](std::array<int, 2> canvas, int most, int least = 0, int border = 0) {
    return fault({.kind = "bag",
                  .canvas = canvas,
                  .num_digits = most,
                  .min_digits = least,
                  .border = border});
  };
  CHECK(bag({60, 60}, 0) ==
        "scene.num_digits: 0; an empty bag has no largest digit; allowed: 1 to 16");
  CHECK(bag({60, 60}, 4, -1) ==
        "scene.min_digits: -1; an empty bag has no largest digit; allowed: 1 to scene.num_digits "
        "(4), or 0 for always that many");
  CHECK(bag({60, 60}, 17) == "scene.num_digits: 17; allowed: 1 to 16");
  CHECK(bag({60, 60}, 3, 4) ==
        "scene.min_digits: 4 is more than scene.num_digits: 3; allowed: 0 to 3");
  CHECK(bag({15, 18}, 5) ==
        "scene.canvas: 15 x 18 with scene.num_digits: 5 and scene.border: 0 has 2 x 3 tiles of 7 x "
        "6 pixels, too small for digits of 8 x 6; needed: scene.canvas of at least 16 x 18, or "
        "smaller digits "
        "(images of a folder are resized by data.size: 6 or less)");
  CHECK(bag({16, 17}, 5).find("scene.canvas: 16 x 17") == 0);
  CHECK(bag({19, 24}, 5, 0, 1).find("needed: scene.canvas of at least 20 x 24") !=
        std::string::npos);
  CHECK(bag({16, 18}, 5) == "nothing thrown");
  CHECK(bag({20, 24}, 5, 0, 1) == "nothing thrown");
  CHECK(bag({60, 60}, 16, 16) == "nothing thrown");

  const auto transcribe = [&](std::array<int, 2> canvas, int most, int least = 0, int border = 0) {
    return fault({.kind = "transcribe",
                  .canvas = canvas,
                  .num_digits = most,
                  .min_digits = least,
                  .num_distractors = 1,
                  .distractor_size = 6,
                  .border = border});
  };
  CHECK(transcribe({20, 100}, 0) == "scene.num_digits: 0; allowed: 1 to 16");
  CHECK(transcribe({20, 100}, 17) == "scene.num_digits: 17; allowed: 1 to 16");
  CHECK(
      transcribe({20, 29}, 5) ==
      "scene.canvas: 20 x 29 with scene.border: 0 leaves no room for 5 digit(s) of 8 x 6; "
      "needed: scene.canvas of at least 8 x 30, or smaller digits (images of a folder are resized "
      "by data.size: 5 or less)");
  CHECK(transcribe({7, 100}, 5).find("scene.canvas: 7 x 100") == 0);
  CHECK(transcribe({20, 31}, 5, 0, 1).find("scene.border: 1") != std::string::npos);
  CHECK(transcribe({20, 100}, 5, 6).find("scene.min_digits: 6") == 0);
  CHECK(transcribe({8, 30}, 5) == "nothing thrown");

  CHECK(fault({.num_digits = 5, .distractor_size = 4}) == "scene.num_digits: 5; allowed: 1 to 4");
  for (const char* kind : {"catch", "circle_square", "digits_to_words"})
    CHECK(fault({.kind = kind}).find("is an environment of its own") != std::string::npos);
}

}  // namespace
}  // namespace saccade
