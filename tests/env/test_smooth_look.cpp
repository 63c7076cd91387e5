// Looks of the retina between pixels (Retina::look_smoothly).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/env/eye.h"

namespace saccade {
namespace {

struct SmoothLook {
  std::vector<float> glimpse, slopes;
};

SmoothLook look_smoothly(const Eye& eye, float x, float y) {
  const int size = eye.retina.glimpse_size();
  SmoothLook seen{std::vector<float>(size, NAN), std::vector<float>(2 * size, NAN)};
  eye.retina.look_smoothly(eye.prepared, x, y, seen.glimpse.data(), seen.slopes.data());
  return seen;
}

/// The integral of the canvas over each cell divided by its size: (scale, channel, row, col).
std::vector<double> naive_smooth_look(const Case& c, const std::vector<std::uint8_t>& canvas,
                                      double x, double y) {
  const int patch = c.config.patch_size;
  std::vector<double> glimpse;
  int zoom = 1;
  for (int s = 0; s < c.config.scales; ++s, zoom *= c.config.scale_factor)
    for (int channel = 0; channel < c.channels; ++channel)
      for (int i = 0; i < patch * patch; ++i) {
        const double top = 0.5 * (y + 1.0) * c.rows - 0.5 * patch * zoom + i / patch * zoom;
        const double left = 0.5 * (x + 1.0) * c.cols - 0.5 * patch * zoom + i % patch * zoom;
        const auto overlap = [&](double edge, int k) {
          return std::max(0.0, std::min(edge + zoom, k + 1.0) - std::max(edge, 1.0 * k));
        };
        double sum = 0.0;
        for (int row = std::max(0, static_cast<int>(top)); row < std::min(top + zoom, 1.0 * c.rows);
             ++row)
          for (int col = std::max(0, static_cast<int>(left));
               col < std::min(left + zoom, 1.0 * c.cols); ++col)
            sum += overlap(top, row) * overlap(left, col) / 255.0 *
                   canvas[(static_cast<std::size_t>(channel) * c.rows + row) * c.cols + col];
        glimpse.push_back(sum / (zoom * zoom));
      }
  return glimpse;
}

// Returns whether every box edge is far enough from pixel edges that a small step does not cross
// one.
bool is_inside_pixels(const Case& c, float location, int side) {
  int zoom = 1;
  for (int s = 0; s < c.config.scales; ++s, zoom *= c.config.scale_factor) {
    const double edge = 0.5 * (double{location} + 1.0) * side - 0.5 * c.config.patch_size * zoom;
    if (std::abs(edge - std::round(edge)) < 1e-3) return false;
  }
  return true;
}

TEST_CASE(
    "a smooth look integrates the canvas over boxes with real-valued edges, and returns its "
    "slopes") {
  for (const Case& c : cases()) {
    CAPTURE(text(c));
    RandomStream stream(1, Purpose::scene, 0, 0);
    const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
    const Eye eye(c, canvas);
    for (const float x : {-1.0F, -0.5F, 0.0F, 1.0F})
      for (const float y : {-1.0F, 0.0F, 0.5F, 1.0F})
        REQUIRE(largest_difference(look_smoothly(eye, x, y).glimpse,
                                   naive_smooth_look(c, canvas, x, y)) < 2e-5);
    for (int i = 0; i < 100; ++i) {
      const float x = stream.uniform(-1.0F, 1.0F), y = stream.uniform(-1.0F, 1.0F);
      CAPTURE(x);
      CAPTURE(y);
      const SmoothLook seen = look_smoothly(eye, x, y);
      REQUIRE(largest_difference(seen.glimpse, naive_smooth_look(c, canvas, x, y)) < 2e-5);
      if (!is_inside_pixels(c, x, c.cols) || !is_inside_pixels(c, y, c.rows)) continue;
      constexpr double kStep = 1e-6;
      std::vector<double> slopes;
      for (const double right : {1.0, 0.0}) {
        const auto at = [&](double step) {
          return naive_smooth_look(c, canvas, x + right * step, y + (1.0 - right) * step);
        };
        const std::vector<double> above = at(kStep), below = at(-kStep);
        for (std::size_t k = 0; k < above.size(); ++k)
          slopes.push_back((above[k] - below[k]) / (2.0 * kStep));
      }
      REQUIRE(largest_difference(seen.slopes, slopes) < 2e-5 * std::max(c.rows, c.cols));
    }
  }
}

TEST_CASE("a smooth look at pixel edges equals a look, for every pooling") {
  // Squares with an even number of pixels on an even canvas, in steps of one pixel from the centre.
  for (const std::string& pooling : retina_poolings()) {
    const Case c{{4, 3, 2, pooling}, 16, 32, 3};
    RandomStream stream(4, Purpose::scene, 0, 0);
    const Eye eye(c, random_canvas(c, stream));
    for (int row = 0; row <= c.rows; ++row)
      for (int col = 0; col <= c.cols; ++col) {
        const float x = 2.0F * static_cast<float>(col) / 32.0F - 1.0F;
        const float y = 2.0F * static_cast<float>(row) / 16.0F - 1.0F;
        REQUIRE(look_smoothly(eye, x, y).glimpse == eye.look(x, y));
      }
  }
}

TEST_CASE("with max pooling a smooth look interpolates between maxima, and so do its slopes") {
  const Case c{{4, 2, 2, "max"}, 16, 32, 1};
  RandomStream stream(5, Purpose::scene, 0, 0);
  const Eye eye(c, random_canvas(c, stream));
  const float x = 1.0F / 32.0F, y = -3.0F / 16.0F;  // both half a pixel from an edge
  const SmoothLook seen = look_smoothly(eye, x, y);
  const auto at = [&](int right, int down) {
    return eye.look(static_cast<float>(2 * right) / 32.0F,
                    static_cast<float>(2 * down - 4) / 16.0F);
  };
  const std::vector<float> a = at(0, 0), b = at(1, 0), d = at(0, 1), e = at(1, 1);
  for (std::size_t i = 0; i < seen.glimpse.size(); ++i) {
    CHECK(seen.glimpse[i] == doctest::Approx((a[i] + b[i] + d[i] + e[i]) / 4));
    CHECK(seen.slopes[i] == doctest::Approx(16 * (b[i] + e[i] - a[i] - d[i]) / 2));
    CHECK(seen.slopes[a.size() + i] == doctest::Approx(8 * (d[i] + e[i] - a[i] - b[i]) / 2));
  }
}

TEST_CASE("a smooth look writes exactly one glimpse and its slopes") {
  const Case c{{6, 3, 2}, 21, 30, 3};
  RandomStream stream(3, Purpose::scene, 0, 0);
  const Eye eye(c, random_canvas(c, stream));
  const int size = eye.retina.glimpse_size();
  for (const float x : {-1.0F, 0.013F, 1.0F}) {
    std::vector<float> glimpse(size + 2, -7.0F), slopes(2 * size + 2, -7.0F);
    eye.retina.look_smoothly(eye.prepared, x, -x, glimpse.data() + 1, slopes.data() + 1);
    for (const std::vector<float>& memory : {glimpse, slopes}) {
      CHECK(memory.front() == -7.0F);
      CHECK(memory.back() == -7.0F);
    }
    CHECK(std::ranges::count(glimpse, -7.0F) == 2);
  }
}

TEST_CASE("the backward pass of a smooth look is its transpose, everywhere on the canvas") {
  check_transpose([](const Eye& eye, float x, float y) { return look_smoothly(eye, x, y).glimpse; },
                  &Retina::look_smoothly_backward);
}

}  // namespace
}  // namespace saccade
