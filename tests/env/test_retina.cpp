#include "env/retina.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/env/eye.h"
#include "tests/support.h"

namespace saccade {
namespace {

/// One scale of a glimpse as documented in the header: a square with its corner at canvas pixel
/// (left, top), divided into P x P boxes of zoom x zoom pixels; black outside. (channel, row, col)
std::vector<double> naive_scale(const Case& c, const std::vector<std::uint8_t>& canvas, int zoom,
                                int left, int top) {
  const int patch = c.config.patch_size;
  std::vector<double> glimpse;
  for (int channel = 0; channel < c.channels; ++channel)
    for (int row = 0; row < patch; ++row)
      for (int col = 0; col < patch; ++col) {
        double sum = 0.0;
        for (int i = 0; i < zoom; ++i)
          for (int j = 0; j < zoom; ++j) {
            const int y = top + row * zoom + i, x = left + col * zoom + j;
            if (y >= 0 && y < c.rows && x >= 0 && x < c.cols)
              sum += canvas[(static_cast<std::size_t>(channel) * c.rows + y) * c.cols + x] / 255.0;
          }
        glimpse.push_back(sum / (zoom * zoom));
      }
  return glimpse;
}

/// The pixel edges nearest to point - side / 2: two if the point is so close to half way that
/// rounding decides.
std::vector<int> nearest_edges(float location, int pixels, int side) {
  constexpr double kTie = 1e-4;
  const double edge = 0.5 * (static_cast<double>(location) + 1.0) * pixels - 0.5 * side;
  const int low = static_cast<int>(std::floor(edge + 0.5 - kTie));
  const int high = static_cast<int>(std::floor(edge + 0.5 + kTie));
  return low == high ? std::vector{low} : std::vector{low, high};
}

TEST_CASE(
    "retina: a centre on a half pixel always selects the same square, however its location was "
    "rounded") {
  int ties = 0;
  for (const int pixels : {8, 40, 44, 60, 101, 2048})
    for (int side = 1; side <= 24; ++side)
      for (int half = 0; half <= 2 * pixels; ++half) {  // the centre, in half pixels
        const auto location = static_cast<float>(static_cast<double>(half) / pixels - 1.0);
        const int twice = half - side;  // the edge, in half pixels; the later of two
        const int expected = static_cast<int>(std::floor((twice + 1) / 2.0));
        ties += twice % 2 != 0 ? 1 : 0;
        if (Retina::first_edge(location, pixels, side) != expected) {
          CAPTURE(pixels);
          CAPTURE(side);
          CAPTURE(half);
          CHECK(Retina::first_edge(location, pixels, side) == expected);
        }
      }
  CHECK(ties > 1000);
  // Six columns 7 pixels apart on 44: the first reads pixels 1-8, the next 8-15, ...
  for (int k = 0; k < 6; ++k) {
    const auto location = static_cast<float>(2.0 * (4.5 + 7.0 * k) / 44.0 - 1.0);
    CHECK(Retina::first_edge(location, 44, 8) == 1 + 7 * k);
  }
}

/// The largest error of any pixel over all scales.
double largest_error(const Case& c, const std::vector<std::uint8_t>& canvas, const Eye& eye,
                     float x, float y) {
  const std::vector<float> glimpse = eye.look(x, y);
  const int patch = c.config.patch_size;
  const int scale_size = c.channels * patch * patch;
  double largest = 0.0;
  int zoom = 1;
  for (int s = 0; s < c.config.scales; ++s, zoom *= c.config.scale_factor) {
    double best = INFINITY;  // over the squares that rounding allows
    for (const int left : nearest_edges(x, c.cols, patch * zoom))
      for (const int top : nearest_edges(y, c.rows, patch * zoom)) {
        const std::vector<double> naive = naive_scale(c, canvas, zoom, left, top);
        double error = 0.0;
        for (int i = 0; i < scale_size; ++i) {
          const double difference = std::abs(glimpse[s * scale_size + i] - naive[i]);
          error = std::isnan(difference) ? INFINITY : std::max(error, difference);
        }
        best = std::min(best, error);
      }
    largest = std::max(largest, best);
  }
  return largest;
}

TEST_CASE("retina: glimpses agree with naive box averages everywhere on the canvas") {
  for (const Case& c : cases()) {
    CAPTURE(text(c));
    RandomStream stream(1, Purpose::scene, 0, 0);
    const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
    const Eye eye(c, canvas);
    CHECK(eye.retina.glimpse_size() ==
          c.config.scales * c.channels * c.config.patch_size * c.config.patch_size);
    for (const float x : {-1.0F, -0.5F, 0.0F, 0.5F, 1.0F})
      for (const float y : {-1.0F, -0.5F, 0.0F, 0.5F, 1.0F})
        REQUIRE(largest_error(c, canvas, eye, x, y) < 1e-6);
    for (int i = 0; i < 300; ++i) {
      const float x = stream.uniform(-1.0F, 1.0F), y = stream.uniform(-1.0F, 1.0F);
      CAPTURE(x);
      CAPTURE(y);
      REQUIRE(largest_error(c, canvas, eye, x, y) < 1e-6);
    }
  }
}

TEST_CASE("retina: looking at many places at once sees what a look at each of them sees") {
  for (const Case& c : cases())
    for (const char* pooling : {"mean", "max"})
      for (const int count : {1, 400}) {  // one by one, and with shared boxes
        Case pooled = c;
        pooled.config.pooling = pooling;
        CAPTURE(text(pooled));
        CAPTURE(pooling);
        CAPTURE(count);
        RandomStream stream(2, Purpose::scene, 0, 0);
        const Eye eye(pooled, random_canvas(c, stream));
        Tensor<2> places = zeros<2>(count, 2);
        for (float& coordinate : places) coordinate = stream.uniform(-1.0F, 1.0F);
        places(0, 0) = -1.0F;
        places(0, 1) = 1.0F;
        Tensor<2> glimpses = zeros<2>(count, eye.retina.glimpse_size());
        glimpses.fill(NAN);
        Retina::Lattices lattices;
        eye.retina.look_at_all(eye.prepared, matrix(places), matrix(glimpses), lattices);
        for (int k = 0; k < count; ++k) {
          const std::vector<float> one = eye.look(places(k, 0), places(k, 1));
          REQUIRE(std::equal(one.begin(), one.end(), &glimpses(k, 0)));
        }
      }
}

TEST_CASE("retina: x runs to the right and y down") {
  const Case c{{1, 1, 2}, 4, 8, 1};
  std::vector<std::uint8_t> canvas(32);
  canvas[1 * 8 + 6] = 255;  // row 1, col 6: its centre is (6.5, 1.5) of (8, 4)
  const Eye eye(c, canvas);
  CHECK(eye.look(0.625F, -0.25F)[0] == 1.0F);
  CHECK(eye.look(-0.25F, 0.625F)[0] == 0.0F);
  CHECK(eye.look(-0.625F, 0.25F)[0] == 0.0F);
}

TEST_CASE("retina: a glimpse is ordered (scale, channel, row, col)") {
  const Case c{{2, 2, 2}, 4, 4, 3};
  std::vector<std::uint8_t> canvas;
  for (const int value : {51, 102, 255}) canvas.insert(canvas.end(), 16, std::uint8_t(value));
  canvas[1 * 4 + 2] = 0;  // channel 0, row 1, col 2: upper right of the middle
  const std::vector<float> glimpse = Eye(c, canvas).look(0.0F, 0.0F);
  const std::vector<double> expected = {0.2, 0.0,  0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 1, 1, 1, 1,
                                        0.2, 0.15, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 1, 1, 1, 1};
  REQUIRE(glimpse.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(glimpse[i] == doctest::Approx(expected[i]).epsilon(1e-6));
}

TEST_CASE(
    "retina: every location in [-1, 1] gives values in range, and a constant canvas is exact "
    "inside") {
  constexpr float kBelowOne = 0x1.fffffep-1F;
  for (const Case& c : cases()) {
    CAPTURE(text(c));
    std::vector<std::uint8_t> canvas(static_cast<std::size_t>(c.channels) * c.rows * c.cols, 255);
    const Eye white(c, canvas);
    RandomStream stream(2, Purpose::scene, 0, 0);
    for (int i = 0; i < 200; ++i)
      for (const float pixel :
           white.look(stream.uniform(-1.0F, 1.0F), stream.uniform(-1.0F, 1.0F))) {
        REQUIRE(pixel >= 0.0F);
        REQUIRE(pixel <= 1.0F);
      }
    // At the centre the finest scale is inside the canvas, and so are coarser ones that fit.
    const int patch = c.config.patch_size;
    const std::vector<float> glimpse = white.look(0.0F, 0.0F);
    int zoom = 1;
    for (int s = 0; s < c.config.scales; ++s, zoom *= c.config.scale_factor) {
      if (patch * zoom > std::min(c.rows, c.cols)) break;
      const float lowest = (zoom & (zoom - 1)) == 0 ? 1.0F : kBelowOne;
      for (int i = 0; i < c.channels * patch * patch; ++i)
        REQUIRE(glimpse[s * c.channels * patch * patch + i] >= lowest);
    }
  }
}

TEST_CASE("retina: preparing again discards the previous canvas; look writes exactly one glimpse") {
  const Case c{{6, 3, 2}, 21, 30, 3};
  RandomStream stream(3, Purpose::scene, 0, 0);
  const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
  const Eye fresh(c, canvas);
  Eye used(c, random_canvas(c, stream));
  used.retina.prepare(canvas, used.prepared);
  for (int i = 0; i < 20; ++i) {
    const float x = stream.uniform(-1.0F, 1.0F), y = stream.uniform(-1.0F, 1.0F);
    CHECK(fresh.look(x, y) == used.look(x, y));
    const int size = fresh.retina.glimpse_size();
    std::vector<float> memory(size + 32, -7.0F);
    fresh.retina.look(fresh.prepared, x, y, memory.data() + 16);
    for (int k = 0; k < 16; ++k) {
      CHECK(memory[k] == -7.0F);
      CHECK(memory[16 + size + k] == -7.0F);
    }
  }
}

TEST_CASE("retina: a view is the canvas itself, and writes nothing else") {
  RandomStream stream(6, Purpose::scene, 0, 0);
  for (const Case& c : {Case{{5, 1, 2}, 9, 12, 1}, Case{{5, 3, 2}, 12, 9, 1},
                        Case{{4, 3, 3}, 11, 17, 3}, Case{{3, 4, 2}, 20, 20, 3}}) {
    CAPTURE(fmt::format("{} x {} x {}", c.channels, c.rows, c.cols));
    const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
    const Eye eye(c, canvas);
    std::vector<float> seen(canvas.size() + 2, -7.0F);
    eye.retina.view(eye.prepared, seen.data() + 1);
    CHECK(seen.front() == -7.0F);
    CHECK(seen.back() == -7.0F);
    for (std::size_t i = 0; i < canvas.size(); ++i)
      REQUIRE(seen[i + 1] == doctest::Approx(canvas[i] / 255.0).epsilon(1e-6));
  }
}

TEST_CASE("retina: the backward pass of a look is its transpose, everywhere on the canvas") {
  check_transpose([](const Eye& eye, float x, float y) { return eye.look(x, y); },
                  &Retina::look_backward);
}

TEST_CASE("retina: invalid sizes are refused by key") {
  const auto fault = [](RetinaConfig config, int rows, int cols) {
    return message_of<InputError>([&] { Retina(config, rows, cols, 1); });
  };
  const auto names = [](const std::string& message, const std::string& key) {
    CAPTURE(message);
    CHECK(message.find(key) != std::string::npos);
  };
  names(fault({13, 1, 2}, 12, 40), "retina.patch_size: 13");
  names(fault({13, 1, 2}, 40, 12), "retina.patch_size: 13");
  names(fault({0, 1, 2}, 12, 40), "retina.patch_size: 0");
  names(fault({12, 0, 2}, 60, 60), "retina.scales: 0");
  names(fault({12, 3, 0}, 60, 60), "retina.scale_factor: 0");
  names(fault({12, 6, 2}, 60, 60), "retina.scales");  // covers 384 pixels of 60
  names(fault({4, 3, 8}, 60, 60), "retina.scales");   // boxes of 64 x 64 pixels
  names(fault({1, 1, 2}, 0, 10), "scene.canvas");
  names(fault({1, 1, 2}, 10, 100000), "scene.canvas");
  CHECK(fault({12, 3, 2}, 60, 60) == "nothing thrown");
  CHECK(fault({12, 1, 2}, 12, 12) == "nothing thrown");
  CHECK(fault({12, 4, 2}, 100, 100) == "nothing thrown");
}

}  // namespace
}  // namespace saccade
