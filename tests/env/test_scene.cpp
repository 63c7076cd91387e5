#include "env/scene.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/name_table.h"
#include "env/scene_kinds.h"
#include "env/scene_layout.h"
#include "env/task_kinds.h"
#include "tests/env/digit_fixtures.h"
#include "tests/statistics.h"
#include "tests/support.h"

namespace saccade {
namespace {

using Canvas = std::vector<int>;  // (channels, rows, cols), not clamped

// Adds digit `index` with its corner at the corner of `box`.
void naive_add(Canvas& canvas, const SceneConfig& config, const Dataset& digits, int index,
               const Box& box) {
  const auto [canvas_rows, canvas_cols] = config.canvas;
  for (int c = 0; c < digits.channels(); ++c)
    for (int row = 0; row < digits.rows(); ++row)
      for (int col = 0; col < digits.cols(); ++col)
        canvas.at((c * canvas_rows + box.y + row) * canvas_cols + box.x + col) +=
            digits.images(index, row, col, c);
}

TEST_CASE("environments of any seeds show all digits of a set, in order or not") {
  for (const DigitOrder order : {DigitOrder::fixed, DigitOrder::shuffled})
    for (const int size : {64, 10'000, 12'345}) {
      std::vector<int> shown(size);
      for (std::uint64_t seed = 0; seed < 20U * size; ++seed)
        ++shown[digit_at(seed << 32, size, order, 7)];
      CHECK(std::ranges::count(shown, 0) == 0);
      CHECK(std::ranges::max(shown) < 60);
    }
  for (int place = 0; place < 100; ++place)
    CHECK(digit_at(place, 30, DigitOrder::fixed, 7) == place % 30);
}

// The scene with only its digits: those due in file order, at the returned boxes.
Canvas naive_digits(const SceneConfig& config, const Dataset& digits, std::uint64_t number,
                    const SceneFacts& facts) {
  Canvas canvas(static_cast<std::size_t>(config.canvas[0]) * config.canvas[1] * digits.channels());
  for (int k = 0; k < config.num_digits; ++k)
    naive_add(canvas, config, digits,
              static_cast<int>((number * config.num_digits + k) % digits.size()), facts.boxes[k]);
  return canvas;
}

Canvas clamped(Canvas canvas) {
  for (int& pixel : canvas) pixel = std::min(pixel, 255);
  return canvas;
}

Canvas pixels(const Scene& scene) { return {scene.canvas.begin(), scene.canvas.end()}; }

bool inside(const Box& box, const SceneConfig& config) {
  const auto [rows, cols] = config.canvas;
  return box.x >= config.border && box.x + box.width <= cols - config.border &&
         box.y >= config.border && box.y + box.height <= rows - config.border;
}

TEST_CASE("scenes without distractors contain only the digits at their boxes, clamped") {
  for (const int channels : {1, 3})
    for (const std::string& kind : {std::string("centered"), std::string("translated")})
      for (int count = 1; count <= 4; ++count) {
        CAPTURE(channels);
        CAPTURE(kind);
        CAPTURE(count);
        const Dataset digits = noise_digits(11, 6, 5, channels, 10);
        const SceneConfig config{.kind = kind, .canvas = {13, 25}, .num_digits = count};
        const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
        CHECK(maker.rows() == 13);
        CHECK(maker.cols() == 25);
        CHECK(maker.channels() == channels);
        for (std::uint64_t n = 0; n < 50; ++n) {
          const Scene scene = draw(maker, n);
          REQUIRE(scene.facts.num_digits == count);
          for (int k = 0; k < count; ++k) {
            const Box& box = scene.facts.boxes[k];
            REQUIRE(box.width == 5);
            REQUIRE(box.height == 6);
            REQUIRE(inside(box, config));
            if (kind == "centered") REQUIRE(box == Box{(25 - 5 * count) / 2 + 5 * k, 3, 5, 6});
          }
          for (int k = count; k < kMaxDigits; ++k) REQUIRE(scene.facts.boxes[k] == Box{});
          REQUIRE(pixels(scene) == clamped(naive_digits(config, digits, n, scene.facts)));
        }
      }
}

TEST_CASE("regions are the boxes in location units") {
  const Dataset digits = noise_digits(3, 7, 4, 1, 3);
  const SceneMaker maker({.kind = "translated", .canvas = {20, 32}, .num_digits = 2}, {}, digits,
                         DigitOrder::fixed, 1);
  for (std::uint64_t n = 0; n < 100; ++n) {
    const SceneFacts facts = draw(maker, n).facts;
    for (int k = 0; k < 2; ++k) {
      const Box& box = facts.boxes[k];
      const Region& region = facts.regions[k];
      CHECK(region.x == doctest::Approx((box.x + 2.0) / 16.0 - 1.0));
      CHECK(region.y == doctest::Approx((box.y + 3.5) / 10.0 - 1.0));
      CHECK(region.half_width == doctest::Approx(2.0 / 16.0));
      CHECK(region.half_height == doctest::Approx(3.5 / 10.0));
      CHECK(region.contains(region.x, region.y));
      for (const float side : {-1.0F, 1.0F}) {
        CHECK(region.contains(region.x + side * 0.124F, region.y + side * 0.349F));
        CHECK_FALSE(region.contains(region.x + side * 0.126F, region.y));
        CHECK_FALSE(region.contains(region.x, region.y + side * 0.351F));
      }
    }
  }
}

// A distractor recovered from a canvas: its digit, where it was cut, and where it was placed.
struct Distractor {
  int index, from_x, from_y, x, y;
};

constexpr int kCount = 5, kRows = 4, kCols = 5;  // digits whose pixels encode their position
constexpr int kDistractorSize = 3;               // of a distractor

Dataset coded_digits() {
  return make_digits(kCount, kRows, kCols, 1, kCount, [](int n, int row, int col, int) {
    return 1 + (n * kRows + row) * kCols + col;  // 1 .. 100: a sum of two is never clamped
  });
}

// Reads the only distractor from a canvas after removing the digit; checks that it is one square of
// one digit.
Distractor find_distractor(const Canvas& canvas, const SceneConfig& config) {
  const int canvas_cols = config.canvas[1];
  const auto first = std::ranges::find_if(canvas, [](int pixel) { return pixel != 0; });
  REQUIRE(first != canvas.end());
  const int place = static_cast<int>(first - canvas.begin()), code = *first - 1;
  const Distractor found{code / (kRows * kCols), code % kCols, code / kCols % kRows,
                         place % canvas_cols, place / canvas_cols};
  Canvas expected(canvas.size());
  for (int row = 0; row < kDistractorSize; ++row)
    for (int col = 0; col < kDistractorSize; ++col)
      expected[(found.y + row) * canvas_cols + found.x + col] = code + 1 + row * kCols + col;
  REQUIRE(found.from_x + kDistractorSize <= kCols);
  REQUIRE(found.from_y + kDistractorSize <= kRows);
  REQUIRE(canvas == expected);
  return found;
}

TEST_CASE("cluttered scenes draw digit, cut and both places uniformly and independently") {
  const Dataset digits = coded_digits();
  for (const int border : {0, 2}) {
    CAPTURE(border);
    const SceneConfig config{.canvas = {14, 17},
                             .num_distractors = 1,
                             .distractor_size = kDistractorSize,
                             .border = border};
    const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 3);
    const int free_rows = 14 - 2 * border, free_cols = 17 - 2 * border;
    // Each draw counts from 0; the inclusive ranges have this many values.
    const std::vector<int> values = {kCount,
                                     kCols - kDistractorSize + 1,
                                     kRows - kDistractorSize + 1,
                                     free_cols - kDistractorSize + 1,
                                     free_rows - kDistractorSize + 1,
                                     free_cols - kCols + 1,
                                     free_rows - kRows + 1};
    std::vector<std::vector<int>> counts;
    for (const int n : values) counts.emplace_back(n);
    std::vector<std::vector<double>> samples(values.size());
    for (std::uint64_t n = 0; n < 5000; ++n) {
      const Scene scene = draw(maker, n);
      Canvas rest = pixels(scene);
      const Canvas digit = naive_digits(config, digits, n, scene.facts);
      for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= digit[i];
      const Distractor d = find_distractor(rest, config);
      const Box& box = scene.facts.boxes[0];
      const std::vector<int> draws = {d.index,      d.from_x,       d.from_y,      d.x - border,
                                      d.y - border, box.x - border, box.y - border};
      for (std::size_t i = 0; i < draws.size(); ++i) {
        ++counts[i].at(draws[i]);
        samples[i].push_back(draws[i]);
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(uniform_deviate(counts[i])) < 5);
      for (std::size_t j = 0; j < values.size(); ++j)
        for (const int lag : {0, 1}) {
          if (i == j && lag == 0) continue;
          CAPTURE(j);
          CHECK(std::abs(correlation_deviate(samples[i], samples[j], lag)) < 5);
        }
    }
  }
}

TEST_CASE("cluttered scenes have the requested number of distractors") {
  const Dataset ones = make_digits(4, 6, 6, 1, 4, [](int, int, int, int) { return 1; });
  for (const int count : {0, 1, 4, 20})
    for (const int size : {1, 3, 6}) {
      const SceneMaker maker(
          {.canvas = {15, 12}, .num_distractors = count, .distractor_size = size}, {}, ones,
          DigitOrder::fixed, 1);
      for (std::uint64_t n = 0; n < 20; ++n) {
        int sum = 0;
        for (const int pixel : pixels(draw(maker, n))) sum += pixel;
        CHECK(sum == count * size * size + 36);
      }
    }
}

TEST_CASE("sums are clamped to white") {
  const Dataset digits = make_digits(2, 6, 6, 3, 2, [](int, int, int, int) { return 100; });
  const SceneMaker maker({.canvas = {10, 10}, .num_distractors = 8, .distractor_size = 5}, {},
                         digits, DigitOrder::fixed, 1);
  std::set<int> seen;
  for (std::uint64_t n = 0; n < 20; ++n)
    for (const int pixel : pixels(draw(maker, n))) seen.insert(pixel);
  CHECK(seen == std::set<int>{0, 100, 200, 255});
}

TEST_CASE("the channels of a distractor stay together") {
  const Dataset digits = make_digits(
      5, 4, 5, 3, 5, [](int n, int row, int col, int c) { return (c + 1) * (1 + n + row + col); });
  const SceneConfig config{.canvas = {9, 12}, .num_distractors = 3, .distractor_size = 4};
  const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
  for (std::uint64_t n = 0; n < 20; ++n) {
    const Canvas canvas = pixels(draw(maker, n));
    for (int i = 0; i < 108; ++i) {
      REQUIRE(canvas[108 + i] == 2 * canvas[i]);
      REQUIRE(canvas[216 + i] == 3 * canvas[i]);
    }
  }
}

TEST_CASE("digit_scale shrinks a digit by area averages, and interpolates to enlarge it") {
  constexpr int kTall = 8, kWide = 6;
  for (const int channels : {1, 3}) {
    const Dataset digits = noise_digits(3, kTall, kWide, channels, 3);
    const auto mean = [&](int n, int row, int col, int c) {
      double sum = 0.0;
      for (int i = 0; i < 4; ++i) sum += digits.images(n, 2 * row + i / 2, 2 * col + i % 2, c);
      return static_cast<int>(std::lround(sum / 4));
    };
    const auto between = [&](int n, int row, int col, int c) {
      const auto at = [](int i, int count) { return std::clamp(0.5 * i - 0.25, 0.0, count - 1.0); };
      const double y = at(row, kTall), x = at(col, kWide);
      double sum = 0.0;
      for (int i = 0; i < kTall; ++i)
        for (int j = 0; j < kWide; ++j)
          sum += std::max(0.0, 1 - std::abs(y - i)) * std::max(0.0, 1 - std::abs(x - j)) *
                 digits.images(n, i, j, c);
      return static_cast<int>(std::lround(sum));
    };
    const Dataset half = make_digits(3, kTall / 2, kWide / 2, channels, 3, mean);
    const Dataset twice = make_digits(3, 2 * kTall, 2 * kWide, channels, 3, between);
    for (const auto& [scale, scaled] : {std::pair{0.5, &half}, std::pair{2.0, &twice}})
      for (const char* kind : {"centered", "translated"}) {
        CAPTURE(channels);
        CAPTURE(scale);
        const SceneConfig config{
            .kind = kind, .canvas = {20, 40}, .num_digits = 2, .digit_scale = scale};
        const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
        for (std::uint64_t n = 0; n < 5; ++n) {
          const Scene scene = draw(maker, n);
          CHECK(scene.facts.boxes[0].width == scaled->cols());
          CHECK(scene.facts.boxes[0].height == scaled->rows());
          CHECK(pixels(scene) == clamped(naive_digits(config, *scaled, n, scene.facts)));
        }
      }
  }
}

TEST_CASE("digit_scale leaves the distractors as they are") {
  const Dataset digits = noise_digits(3, 8, 8, 1, 3);
  const SceneConfig config{.canvas = {30, 30}, .num_distractors = 3, .distractor_size = 8};
  SceneConfig scaled = config;
  scaled.digit_scale = 0.25;
  const SceneMaker maker(config, {}, digits, DigitOrder::fixed, 1);
  const SceneMaker maker_scaled(scaled, {}, digits, DigitOrder::fixed, 1);
  for (std::uint64_t n = 0; n < 5; ++n) {
    const Scene a = draw(maker, n), b = draw(maker_scaled, n);
    const Canvas of_a = pixels(a), of_b = pixels(b);
    for (int i = 0; i < 900; ++i) {
      const auto in = [i](const Box& box) {
        return i % 30 >= box.x && i % 30 < box.x + box.width && i / 30 >= box.y &&
               i / 30 < box.y + box.height;
      };
      if (!in(a.facts.boxes[0]) && !in(b.facts.boxes[0])) REQUIRE(of_a[i] == of_b[i]);
    }
  }
}

TEST_CASE("an impossible scene is refused by key") {
  const Dataset digits = noise_digits(3, 8, 6, 1, 3);
  const auto fault = [&](const SceneConfig& config) {
    return message_of<InputError>([&] { SceneMaker(config, {}, digits, DigitOrder::fixed, 1); });
  };
  const auto names = [&](const SceneConfig& config, const std::string& key) {
    const std::string message = fault(config);
    CAPTURE(message);
    CHECK(message.find(key) != std::string::npos);
  };
  CHECK(fault({.kind = "clutered"}) ==
        "unknown scene.kind 'clutered'; allowed: " + join(task_kinds()));
  CHECK(fault({.label = "add"}) == "unknown scene.label 'add'; allowed: sum, pair");
  names({.num_digits = 0}, "scene.num_digits: 0");
  names({.num_digits = 5}, "scene.num_digits: 5");
  CHECK(fault({.label = "pair"}) == "scene.label: pair needs scene.num_digits: 2, not 1");
  CHECK(fault({.num_digits = 3, .label = "pair"}) ==
        "scene.label: pair needs scene.num_digits: 2, not 3");
  names({.canvas = {7, 20}, .distractor_size = 4}, "scene.canvas: 7 x 20");
  names({.canvas = {20, 5}, .distractor_size = 4}, "scene.canvas: 20 x 5");
  names({.kind = "centered", .canvas = {20, 17}, .num_digits = 3}, "scene.canvas: 20 x 17");
  names({.canvas = {20, 20}, .distractor_size = 4, .border = 7}, "scene.border: 7");
  names({.canvas = {20, 20}, .distractor_size = 4, .border = -1}, "scene.border: -1");
  names({.num_distractors = -1, .distractor_size = 4}, "scene.num_distractors: -1");
  names({.distractor_size = 7}, "scene.distractor_size: 7");
  names({.distractor_size = 0}, "scene.distractor_size: 0");
  CHECK(fault({.distractor_size = 7}) == "scene.distractor_size: 7 pixels; allowed: 1 to 6");
  // Small digits fit where distractors, which are not scaled, do not.
  CHECK(fault({.canvas = {20, 5}, .distractor_size = 6, .digit_scale = 0.25}) ==
        "scene.distractor_size: 6 pixels; allowed: 1 to 5, what scene.canvas: 20 x 5 with "
        "scene.border: 0 leaves free");
  CHECK(fault({.canvas = {20, 20}, .distractor_size = 5, .digit_scale = 0.25, .border = 8}) ==
        "scene.distractor_size: 5 pixels; allowed: 1 to 4, what scene.canvas: 20 x 20 with "
        "scene.border: 8 leaves free");
  CHECK(fault({.canvas = {20, 5}, .distractor_size = 5, .digit_scale = 0.25}) == "nothing thrown");
  CHECK(fault({.distractor_size = 4, .digit_scale = 0.2}) ==
        "scene.digit_scale: 0.2; allowed: 0.25 to 4");
  names({.canvas = {20, 20}, .distractor_size = 4, .digit_scale = 3}, "digit(s) of 24 x 18");

  CHECK(fault({.canvas = {8, 6}, .distractor_size = 6}) == "nothing thrown");
  CHECK(fault({.canvas = {20, 20}, .distractor_size = 6, .border = 6}) == "nothing thrown");
  CHECK(fault({.kind = "translated", .distractor_size = 100}) == "nothing thrown");
  CHECK(fault({.num_distractors = 0, .distractor_size = 100}) == "nothing thrown");
  CHECK(fault({.kind = "centered", .canvas = {8, 18}, .num_digits = 3}) == "nothing thrown");
}

TEST_CASE("digits of absurd sizes do not fit, however many there are") {
  const auto fault = [](Layout layout, Box digit) {
    const SceneConfig config{.kind = "transcribe", .canvas = {60, 60}, .num_digits = 4};
    return message_of<InputError>([&] { check_layout(layout, config, digit); });
  };
  const int most = std::numeric_limits<int>::max();
  for (const int width : {1 << 30, most})  // four times 2^30 is 0 in 32 bits
    for (const Layout layout :
         {Layout::side_by_side, Layout::anywhere, Layout::tiles, Layout::left_to_right}) {
      CHECK(contains(fault(layout, {.width = width, .height = 8}), "scene.canvas: 60 x 60"));
      CHECK(contains(fault(layout, {.width = 8, .height = width}), "scene.canvas: 60 x 60"));
    }
  CHECK(contains(fault(Layout::left_to_right, {.width = 1 << 30, .height = 8}),
                 "needed: scene.canvas of at least 8 x 4294967296"));
}

TEST_CASE("settle removes distractors from scenes that have none") {
  for (const std::string& kind : scene_kinds()) {
    CAPTURE(kind);
    const bool clutter = kind == "cluttered" || kind == "transcribe";
    SceneConfig config{.kind = kind, .num_distractors = 2};
    settle(config);
    CHECK(config.num_distractors == (clutter ? 2 : 0));
    check(config);
  }
}

TEST_CASE("settle replaces a label that does not fit the kind of scene") {
  for (const std::string& kind : scene_kinds()) {
    CAPTURE(kind);
    SceneConfig config{.kind = kind, .label = "pair"};
    settle(config);
    const SceneTraits traits = scene_traits(kind);
    const std::string label = traits.sequence || traits.tiled ? "sum" : "pair";
    CHECK(config.label == label);
  }
}

}  // namespace
}  // namespace saccade
