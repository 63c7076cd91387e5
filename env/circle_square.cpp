#include "env/circle_square.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "nn/random.h"

namespace saccade {
namespace {

constexpr int kHalf = 4;  // pixels from the centre to the last one of a shape
constexpr int kCircle = 1;
constexpr std::uint64_t kScenesPerSplit = std::uint64_t{1} << 62;

}  // namespace

std::vector<std::string> circle_square_classes() { return {"square", "circle"}; }

EnvironmentSizes circle_square_sizes(std::array<int, 2> canvas) {
  return {.num_classes = static_cast<int>(circle_square_classes().size()),
          .canvas = {1, canvas[0], canvas[1]}};
}

int circle_square_images(std::array<int, 2> canvas) { return 2 * canvas[0] * canvas[1]; }

CircleSquareEnvironment::CircleSquareEnvironment(std::array<int, 2> canvas, const Retina& retina,
                                                 Split split, std::uint64_t seed, int episodes,
                                                 int rollouts)
    : RetinaEnvironment(retina, episodes, rollouts),
      rows_(canvas[0]),
      cols_(canvas[1]),
      split_(split),
      seed_(seed),
      rollouts_(rollouts),
      canvas_(static_cast<std::size_t>(rows_) * cols_) {
  SACCADE_CHECK(episodes % rollouts == 0);
}

void CircleSquareEnvironment::begin(std::uint64_t first_scene) {
  for (int b = 0; b < episodes(); b += rollouts_) show_scene(b, first_scene + b / rollouts_);
}

void CircleSquareEnvironment::begin_one(int episode, std::uint64_t scene) {
  if (rollouts_ > 1) return Environment::begin_one(episode, scene);
  show_scene(episode, scene);
}

// For the episode and those that share its scene.
void CircleSquareEnvironment::show_scene(int episode, std::uint64_t scene) {
  const std::uint64_t number = scene + kScenesPerSplit * static_cast<std::uint64_t>(split_);
  RandomStream stream(seed_, Purpose::scene, static_cast<std::uint32_t>(number >> 32),
                      static_cast<std::uint32_t>(number));
  const int image = stream.below(circle_square_images({rows_, cols_}));
  draw(image);
  show(episode, canvas_);

  const int x = image / 2 % cols_, y = image / 2 / cols_;
  const int left = std::max(0, x - kHalf), top = std::max(0, y - kHalf);
  SceneFacts facts;
  facts.label = facts.classes[0] = image % 2;
  facts.boxes[0] = {.x = left,
                    .y = top,
                    .width = std::min(cols_, x + kHalf + 1) - left,
                    .height = std::min(rows_, y + kHalf + 1) - top};
  facts.regions[0] = to_region(facts.boxes[0], cols_, rows_);
  facts.is_answer[0] = true;
  facts.sources[0] = image;
  facts.num_sources = 1;
  std::fill_n(facts_.begin() + episode, rollouts_, facts);
}

void CircleSquareEnvironment::draw(int image) {
  const int x = image / 2 % cols_, y = image / 2 / cols_;
  const double diagonal = std::hypot(rows_, cols_);
  for (int row = 0; row < rows_; ++row)
    for (int col = 0; col < cols_; ++col) {
      const int right = col - x, down = row - y, squared = right * right + down * down;
      const bool inside = image % 2 == kCircle ? squared <= kHalf * kHalf
                                               : std::max(std::abs(right), std::abs(down)) <= kHalf;
      const double bright = inside ? 1.0 : 1.0 - std::sqrt(squared) / diagonal;
      canvas_[row * cols_ + col] = static_cast<std::uint8_t>(std::lround(255.0 * bright));
    }
}

}  // namespace saccade
