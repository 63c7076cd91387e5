// The world of CircleSquare-v0 against episodes that were recorded from ap_gym 0.7.1 itself
// (tests/reference/circle_square.py): images, moves and what is seen.
#include "env/circle_square.h"

#include <doctest/doctest.h>

#include <vector>

#include "attention/moves.h"
#include "tests/agent/fixture.h"

namespace saccade {
namespace {

constexpr int kImageSide = 28, kGlimpseSide = 5;

// The recorded episodes: their images are found among our scenes.
struct RecordedWorld {
  RecordedWorld() {
    const std::vector<int> wanted = record.integers("index");
    for (std::uint64_t scene = 0; scenes.size() < wanted.size(); scene = 0) {
      while (image_of(scene) != wanted[scenes.size()]) ++scene;
      scenes.push_back(scene);
    }
  }
  int image_of(std::uint64_t scene) {
    environment.reset(scene);
    return environment.facts()[0].sources[0];
  }

  const Fixture record{"circle_square"};
  const Retina retina{{.patch_size = kGlimpseSide, .scales = 1}, kImageSide, kImageSide, 1};
  CircleSquareEnvironment environment{{kImageSide, kImageSide}, retina, Split::train, 1, 1, 1};
  std::vector<std::uint64_t> scenes;
};

TEST_CASE("circle_square: images and labels are those of ap_gym, rounded to bytes") {
  RecordedWorld world;
  Tensor<2> canvas = zeros<2>(1, kImageSide * kImageSide);
  for (std::size_t n = 0; n < world.scenes.size(); ++n) {
    CAPTURE(n);
    world.environment.reset(world.scenes[n]);
    CHECK(world.environment.facts()[0].label == world.record.integers("label")[n]);
    world.environment.view(matrix(canvas));
    const float* image = world.record.matrix("image").row(static_cast<int>(n));
    float largest = 0.0F;
    for (int i = 0; i < kImageSide * kImageSide; ++i)
      largest = std::max(largest, std::abs(canvas(0, i) - image[i]));
    CHECK(largest <= 0.5F / 255.0F + 1e-6F);
  }
}

TEST_CASE("circle_square: relative moves of 0.2 lead where those of ap_gym do, and see the same") {
  RecordedWorld world;
  const int count = static_cast<int>(world.scenes.size());
  const int steps = world.record.size("action", 0);
  // A position of 1 in ap_gym is the last one where the patch is on the canvas.
  const float half_side = static_cast<float>(kGlimpseSide) / kImageSide, unit = 1.0F - half_side;
  const Moves moves = relative_moves(0.2F * unit, {half_side, half_side});
  CHECK(moves.reach[0] == unit);
  Tensor<2> place = zeros<2>(1, 2), next = place,
            glimpse = zeros<2>(1, kGlimpseSide * kGlimpseSide);
  Tensor<2> slopes = zeros<2>(1, 2 * kGlimpseSide * kGlimpseSide);
  for (int n = 0; n < count; ++n) {
    CAPTURE(n);
    world.environment.reset(world.scenes[n]);
    // A first action is a start in the units of ap_gym.
    move_forward(matrix(place), world.record.matrix("position").row_range(n, 1), {}, moves);
    for (int t = 0; t <= steps; ++t) {
      CAPTURE(t);
      const float* position = world.record.matrix("position").row(t * count + n);
      for (int axis = 0; axis < 2; ++axis)
        CHECK(place(0, axis) == doctest::Approx(unit * position[axis]).scale(1.0).epsilon(1e-5));
      world.environment.look_smoothly(matrix(place), matrix(glimpse), matrix(slopes));
      const float* seen = world.record.matrix("glimpse").row(t * count + n);
      for (int i = 0; i < kGlimpseSide * kGlimpseSide; ++i)
        CHECK(std::abs(glimpse(0, i) - seen[i]) < 0.5F / 255.0F + 1e-4F);
      if (t == steps) break;
      move_forward(matrix(next), world.record.matrix("action").row_range(t * count + n, 1),
                   matrix(place), moves);
      place = next;
    }
  }
}

}  // namespace
}  // namespace saccade
