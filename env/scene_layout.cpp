#include "env/scene_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/error.h"

namespace saccade {
namespace {

// Returns the corner of a digit centred in tile `tile` of `tiles`, rounded to the nearest pixel
// edge. This is the retina's rule, so that a patch of the digit's size sees exactly the digit.
int tile_corner(int tile, int tiles, int canvas_side, int digit_side) {
  return ((2 * tile + 1) * canvas_side - (digit_side - 1) * tiles) / (2 * tiles);
}

void place_in_tiles(const SceneConfig& config, std::span<Box> boxes) {
  const TileGrid grid = tile_grid(config.num_digits);
  for (int k = 0; k < static_cast<int>(boxes.size()); ++k) {
    Box& box = boxes[k];
    box.x = tile_corner(k % grid.cols, grid.cols, config.canvas[1], box.width);
    box.y = tile_corner(k / grid.cols, grid.rows, config.canvas[0], box.height);
  }
}

// Draws n distinct numbers of 0 .. range - 1 in ascending order; each set is equally likely (Robert
// Floyd's sample, in Bentley 1987).
void draw_sorted(int range, std::span<int> sample, RandomStream& stream) {
  const int n = static_cast<int>(sample.size());
  for (int drawn = 0; drawn < n; ++drawn) {
    const int last = range - n + drawn;
    const int candidate = stream.below(last + 1);
    const auto begin = sample.begin(), end = begin + drawn;
    *end = std::find(begin, end, candidate) == end ? candidate : last;
  }
  std::ranges::sort(sample);
}

// Takes the n digits and the free columns between them as one row of elements: a placement is the
// choice of the elements that are digits. So all non-overlapping placements along x are equally
// likely.
void place_left_to_right(const SceneConfig& config, RandomStream& stream, std::span<Box> boxes) {
  const int n = static_cast<int>(boxes.size());
  const int width = boxes.front().width;
  const int free_cols = config.canvas[1] - 2 * config.border - n * width;
  std::array<int, kMaxDigits> places{};
  draw_sorted(free_cols + n, std::span(places).first(n), stream);
  for (int k = 0; k < n; ++k) {
    boxes[k].x = config.border + places[k] + k * (width - 1);
    boxes[k].y = random_corner(config.canvas[0], boxes[k].height, config.border, stream);
  }
}

// Suggests what makes the digits fit: a larger canvas, or a smaller data.size for a folder.
std::string what_fits(std::int64_t rows, std::int64_t cols, int most) {
  std::string text = fmt::format("needed: scene.canvas of at least {} x {}", rows, cols);
  if (most > 0)
    text += fmt::format(
        ", or smaller digits (images of a folder are resized by data.size: {} or less)", most);
  return text;
}

}  // namespace

TileGrid tile_grid(int count) {
  const int rows = static_cast<int>(std::sqrt(static_cast<float>(count)));
  return {rows, (count + rows - 1) / rows};
}

int random_corner(int canvas_side, int side, int border, RandomStream& stream) {
  return border + stream.below(canvas_side - 2 * border - side + 1);
}

void check_layout(Layout layout, const SceneConfig& config, Box digit) {
  const auto [rows, cols] = config.canvas;
  const int count = config.num_digits;
  if (layout == Layout::tiles) {
    const TileGrid grid = tile_grid(count);
    const int margin = 2 * config.border;
    const auto side = [margin](int tiles, int pixels) {  // of a canvas for so many digits
      return tiles * (std::int64_t{pixels} + margin);
    };
    if (rows < side(grid.rows, digit.height) || cols < side(grid.cols, digit.width))
      throw SettingError(
          {"scene.canvas", "scene.num_digits", "scene.border"},
          fmt::format(
              "scene.canvas: {} x {} with scene.num_digits: {} and scene.border: {} has {} x {} "
              "tiles of {} x {} pixels, too small for digits of {} x {}; {}",
              rows, cols, count, config.border, grid.rows, grid.cols, rows / grid.rows,
              cols / grid.cols, digit.height, digit.width,
              what_fits(side(grid.rows, digit.height), side(grid.cols, digit.width),
                        std::min(rows / grid.rows, cols / grid.cols) - margin)));
    return;
  }
  const int beside = layout == Layout::anywhere ? 1 : count;  // digits that may not share a column
  const int margin = 2 * config.border, free_rows = rows - margin, free_cols = cols - margin;
  const std::int64_t width = std::int64_t{digit.width} * beside;
  if (digit.height > free_rows || width > free_cols)
    throw SettingError({"scene.canvas", "scene.border"},
                       fmt::format("scene.canvas: {} x {} with scene.border: {} leaves no room for "
                                   "{} digit(s) of {} x {}; {}",
                                   rows, cols, config.border, count, digit.height, digit.width,
                                   what_fits(std::int64_t{digit.height} + margin, width + margin,
                                             std::min(free_rows, free_cols / beside))));
}

void place_digits(Layout layout, const SceneConfig& config, Box digit, RandomStream& stream,
                  std::span<Box> boxes) {
  const auto [rows, cols] = config.canvas;
  const int count = static_cast<int>(boxes.size());
  std::ranges::fill(boxes, Box{.width = digit.width, .height = digit.height});
  switch (layout) {
    case Layout::side_by_side:
      for (int k = 0; k < count; ++k) {
        boxes[k].x = (cols - count * digit.width) / 2 + k * digit.width;
        boxes[k].y = (rows - digit.height) / 2;
      }
      break;
    case Layout::anywhere:
      for (Box& box : boxes) {
        box.x = random_corner(cols, box.width, config.border, stream);
        box.y = random_corner(rows, box.height, config.border, stream);
      }
      break;
    case Layout::tiles:
      place_in_tiles(config, boxes);
      break;
    case Layout::left_to_right:
      place_left_to_right(config, stream, boxes);
      break;
  }
}

}  // namespace saccade
