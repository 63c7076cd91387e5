#include "env/circle_square.h"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr int kHalf = 4;  // pixels from the centre to the last one of a shape
constexpr int kCircle = 1;

}  // namespace

std::vector<std::string> circle_square_classes() { return {"square", "circle"}; }

EnvironmentSizes circle_square_sizes(std::array<int, 2> canvas) {
  return {.num_classes = static_cast<int>(circle_square_classes().size()),
          .canvas = {1, canvas[0], canvas[1]}};
}

int circle_square_images(std::array<int, 2> canvas) { return 2 * canvas[0] * canvas[1]; }

void CircleSquareEnvironment::draw(RandomStream& stream, std::span<std::uint8_t> pixels,
                                   SceneFacts& facts) {
  const auto [channels, rows, cols] = canvas();
  const int image = stream.below(circle_square_images({rows, cols}));
  const int x = image / 2 % cols, y = image / 2 / cols;
  const double diagonal = std::hypot(rows, cols);
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col) {
      const int right = col - x, down = row - y, squared = right * right + down * down;
      const bool inside = image % 2 == kCircle ? squared <= kHalf * kHalf
                                               : std::max(std::abs(right), std::abs(down)) <= kHalf;
      const double bright = inside ? 1.0 : 1.0 - std::sqrt(squared) / diagonal;
      pixels[row * cols + col] = static_cast<std::uint8_t>(std::lround(255.0 * bright));
    }

  const int left = std::max(0, x - kHalf), top = std::max(0, y - kHalf);
  facts.label = facts.classes[0] = image % 2;
  facts.boxes[0] = {.x = left,
                    .y = top,
                    .width = std::min(cols, x + kHalf + 1) - left,
                    .height = std::min(rows, y + kHalf + 1) - top};
  facts.sources[0] = image;
  facts.num_sources = 1;
}

}  // namespace saccade
