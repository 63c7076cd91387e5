#pragma once

#include <array>
#include <cmath>

namespace saccade {

/// A rectangle of pixels: [x, x + width) x [y, y + height).
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  bool operator==(const Box&) const = default;
};

/// The same rectangle in location units: its centre and half its sides.
struct Region {
  float x = 0.0F;
  float y = 0.0F;
  float half_width = 0.0F;
  float half_height = 0.0F;

  /// Edges included, whatever the last bits say.
  bool contains(float at_x, float at_y) const {
    constexpr float kSlack = 1e-6F;
    return std::abs(at_x - x) <= half_width + kSlack && std::abs(at_y - y) <= half_height + kSlack;
  }
};

/// The region of a box on a canvas.
inline Region to_region(const Box& box, int canvas_cols, int canvas_rows) {
  const auto cols = static_cast<float>(canvas_cols), rows = static_cast<float>(canvas_rows);
  return {.x = static_cast<float>(2 * box.x + box.width) / cols - 1.0F,
          .y = static_cast<float>(2 * box.y + box.height) / rows - 1.0F,
          .half_width = static_cast<float>(box.width) / cols,
          .half_height = static_cast<float>(box.height) / rows};
}

constexpr int kMaxDigits = 16;
constexpr int kMaxSymbols = 17;  // kMaxDigits and an end mark
constexpr int kMaxSources = 17;  // kMaxDigits and a cue

/// What is true of a scene and hidden from the agent.
struct SceneFacts {
  int label = 0;  // 0 where the answer is no class
  int num_digits = 1;
  int length = 0;                            // steps of the episode that count; 0: all
  std::array<Box, kMaxDigits> boxes{};       // where the digits are, in pixels of the canvas
  std::array<Region, kMaxDigits> regions{};  // the same in location units
  std::array<int, kMaxDigits> classes{};     // of the digits, in the order of boxes
  std::array<bool, kMaxDigits> is_answer{};  // digits that decide the label
  std::array<int, kMaxSymbols> symbols{};    // the right answer, end mark included
  int num_symbols = 0;                       // 0 where the answer is no sequence
  // What other scenes may show again: the index of each digit in its set, a cue's first; or the
  // number in words.
  std::array<int, kMaxSources> sources{};
  int num_sources = 0;
};

}  // namespace saccade
