#include "env/augmentation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/statistics.h"

namespace saccade {
namespace {

using Image = std::vector<std::uint8_t>;  // (rows, cols, channels)

struct Size {
  int rows, cols, channels;
  int count() const { return rows * cols * channels; }
};

/// An affine map about the centre, with its steps in configuration order.
struct Map {
  double rotation = 0.0;  // degrees
  double scale = 1.0;     // factor
  double shear = 0.0;
  double shift_x = 0.0, shift_y = 0.0;             // pixels
  std::vector<double> knots_x = {}, knots_y = {};  // (5, 5) displacements, pixels; empty: none
  bool flip = false;
};

// Interpolates between the knots, the first and last of which are at the first and last pixel.
double displacement(const std::vector<double>& knots, int row, int col, Size size) {
  double sum = 0.0;
  for (std::size_t k = 0; k < knots.size(); ++k) {
    const auto share = [](int pixel, int count, double knot) {
      const double at = count > 1 ? 4.0 * pixel / (count - 1) : 0.0;
      return std::max(0.0, 1.0 - std::abs(at - knot));
    };
    sum += knots[k] * share(row, size.rows, static_cast<double>(k / 5)) *
           share(col, size.cols, static_cast<double>(k % 5));
  }
  return sum;
}

// Reads each target pixel from its source position; black outside. Not rounded.
std::vector<double> naive_apply(const Map& map, const Image& source, Size size) {
  const double angle = map.rotation * std::numbers::pi / 180.0;
  const double centre_x = 0.5 * (size.cols - 1), centre_y = 0.5 * (size.rows - 1);
  std::vector<double> target;
  for (int row = 0; row < size.rows; ++row)
    for (int col = 0; col < size.cols; ++col) {
      const double from_centre = map.flip ? centre_x - col : col - centre_x;
      const double x = from_centre - map.shift_x, y = row - centre_y - map.shift_y;
      const double sheared_x = x + map.shear * y;
      const double u = (std::cos(angle) * sheared_x + std::sin(angle) * y) / map.scale + centre_x +
                       displacement(map.knots_x, row, col, size);
      const double v = (std::cos(angle) * y - std::sin(angle) * sheared_x) / map.scale + centre_y +
                       displacement(map.knots_y, row, col, size);
      for (int c = 0; c < size.channels; ++c) {
        double value = 0.0;
        for (int i = 0; i < size.rows; ++i)
          for (int j = 0; j < size.cols; ++j)
            value += std::max(0.0, 1.0 - std::abs(u - j)) * std::max(0.0, 1.0 - std::abs(v - i)) *
                     source[(i * size.cols + j) * size.channels + c];
        target.push_back(value);
      }
    }
  return target;
}

Image random_image(Size size) {
  RandomStream stream(1, Purpose::synthetic_digits, 0, 0);
  Image image(size.count());
  for (std::uint8_t& pixel : image) pixel = static_cast<std::uint8_t>(stream.below(256));
  return image;
}

Image distort(const AugmentationConfig& config, const Image& source, Size size,
              RandomStream stream) {
  Image target(source.size(), 77);
  Augmentation::Scratch scratch(size.rows, size.cols);
  Augmentation(config).apply(target, source, size.channels, stream, scratch);
  return target;
}

RandomStream stream_of(std::uint32_t scene) { return {1, Purpose::augmentation, 0, scene}; }

constexpr std::array<Size, 3> kSizes = {Size{28, 28, 1}, Size{9, 14, 3}, Size{1, 1, 1}};

TEST_CASE("without distortions the image keeps the same bits") {
  CHECK_FALSE(AugmentationConfig{}.enabled());
  CHECK(AugmentationConfig{.rotation = 1.0}.enabled());
  CHECK(AugmentationConfig{.scale = 0.1}.enabled());
  CHECK(AugmentationConfig{.shear = 0.1}.enabled());
  CHECK(AugmentationConfig{.shift = 1.0}.enabled());
  CHECK(AugmentationConfig{.elastic = 1.0}.enabled());
  CHECK(AugmentationConfig{.stroke = 0.5}.enabled());
  CHECK(AugmentationConfig{.flip = true}.enabled());
  for (const Size size : kSizes)
    CHECK(distort({}, random_image(size), size, stream_of(0)) == random_image(size));
}

TEST_CASE("the naive map rotates, shifts and scales as documented") {
  const Size size{5, 5, 1};
  Image dot(25);
  dot[1 * 5 + 2] = 100;  // one pixel above the centre
  const auto at = [&](const Map& map, int row, int col) {
    return naive_apply(map, dot, size)[row * 5 + col];
  };
  CHECK(at({}, 1, 2) == 100.0);
  CHECK(at({.rotation = 90.0}, 2, 3) == doctest::Approx(100.0));  // to the right: clockwise
  CHECK(at({.rotation = 180.0}, 3, 2) == doctest::Approx(100.0));
  CHECK(at({.rotation = 360.0}, 1, 2) == doctest::Approx(100.0));
  CHECK(at({.shift_x = 2.0, .shift_y = 1.0}, 2, 4) == 100.0);
  CHECK(at({.scale = 2.0}, 0, 2) == 100.0);
  CHECK(at({.shear = 1.0}, 1, 3) == 100.0);  // rows above the centre move right
  CHECK(at({.shift_x = 2.0, .flip = true}, 1, 0) == 100.0);
}

TEST_CASE("distortions agree with naive bilinear reading of the drawn map") {
  const std::vector<AugmentationConfig> configs = {{.rotation = 180.0},
                                                   {.scale = 0.5},
                                                   {.shear = 1.0},
                                                   {.shift = 16.0},
                                                   {15.0, 0.2, 0.3, 2.5},
                                                   {180.0, 0.9, 1.0, 5.0},
                                                   {.elastic = 4.0},
                                                   {15.0, 0.2, 0.3, 2.5, 2.0},
                                                   {15.0, 0.2, 0.3, 2.5, 2.0, 0.0, true}};
  for (const Size size : kSizes)
    for (std::size_t k = 0; k < configs.size(); ++k) {
      CAPTURE(k);
      CAPTURE(size.rows);
      const AugmentationConfig& config = configs[k];
      const Image source = random_image(size);
      for (std::uint32_t scene = 0; scene < 4; ++scene) {
        RandomStream stream = stream_of(scene);
        const auto symmetric = [&](double bound) { return bound * (2.0 * stream.uniform() - 1.0); };
        Map map;
        map.rotation = symmetric(config.rotation);
        map.scale = 1.0 + symmetric(config.scale);
        map.shear = symmetric(config.shear);
        map.shift_x = symmetric(config.shift);
        map.shift_y = symmetric(config.shift);
        if (config.flip) map.flip = stream.uniform() < 0.5F;
        if (config.elastic > 0.0)
          for (std::vector<double>* knots : {&map.knots_x, &map.knots_y})
            for (int knot = 0; knot < 25; ++knot) knots->push_back(symmetric(config.elastic));
        const Image fast = distort(config, source, size, stream_of(scene));
        const std::vector<double> naive = naive_apply(map, source, size);
        double largest = 0.0;
        for (int i = 0; i < size.count(); ++i)
          largest = std::max(largest, std::abs(fast[i] - naive[i]));
        CHECK(largest < 0.52);  // rounding to bytes, plus float error
      }
    }
}

TEST_CASE("a shift by whole pixels moves the image and changes nothing else") {
  // Wide rows of constant grey: in the middle column only the vertical shift matters. It is uniform
  // in +-shift, so a bound that makes it an integer can be computed from the stream.
  const Size size{11, 41, 1};
  Image stripes(size.count());
  for (int i = 0; i < size.count(); ++i) stripes[i] = static_cast<std::uint8_t>(20 * (1 + i / 41));
  int moves = 0;
  for (std::uint32_t scene = 0; scene < 100; ++scene) {
    RandomStream stream = stream_of(scene);
    for (int k = 0; k < 4; ++k) stream.bits();  // rotation, scale, shear, horizontal shift
    const double share = 2.0 * stream.uniform() - 1.0;
    for (const int pixels : {-2, 1, 3}) {
      const double bound = pixels / share;
      if (bound <= 0.0 || bound > 16.0) continue;
      ++moves;
      const Image target = distort({.shift = bound}, stripes, size, stream_of(scene));
      for (int row = 0; row < size.rows; ++row) {
        const int from = row - pixels;
        const int expected = from >= 0 && from < size.rows ? stripes[from * 41] : 0;
        REQUIRE(target[row * 41 + 20] == expected);
      }
    }
  }
  CHECK(moves > 50);
}

TEST_CASE("distortions are uniform between their bounds, in both directions") {
  const Size size{41, 41, 1};
  Image dot(size.count());
  dot[20 * 41 + 20] = 255;
  std::vector<double> x_shares, y_shares;
  for (std::uint32_t scene = 0; scene < 2000; ++scene) {
    const Image target = distort({.shift = 16.0}, dot, size, stream_of(scene));
    double mass = 0.0, x = 0.0, y = 0.0;
    for (int i = 0; i < size.count(); ++i) {
      mass += target[i];
      x += target[i] * (i % 41 - 20);
      y += target[i] * (i / 41 - 20);
    }
    REQUIRE(mass > 240.0);
    x_shares.push_back(0.5 + x / mass / 32.0);
    y_shares.push_back(0.5 + y / mass / 32.0);
  }
  const auto uniform = [](double share) { return std::clamp(share, 0.0, 1.0); };
  CHECK(kolmogorov_distance(x_shares, uniform) < 1.95);
  CHECK(kolmogorov_distance(y_shares, uniform) < 1.95);
  CHECK(std::abs(correlation_deviate(x_shares, y_shares, 0)) < 5);
}

TEST_CASE("a flip mirrors half of the images, in colour, and changes nothing else") {
  for (const Size size : {Size{9, 14, 3}, Size{5, 7, 1}}) {
    const Image source = random_image(size);
    Image mirrored(source.size());
    for (int row = 0; row < size.rows; ++row)
      for (int col = 0; col < size.cols; ++col)
        for (int c = 0; c < size.channels; ++c)
          mirrored[(row * size.cols + col) * size.channels + c] =
              source[(row * size.cols + size.cols - 1 - col) * size.channels + c];
    int flips = 0;
    for (std::uint32_t scene = 0; scene < 400; ++scene) {
      const Image target = distort({.flip = true}, source, size, stream_of(scene));
      if (target != source) REQUIRE(target == mirrored);
      flips += target == mirrored;
    }
    CHECK(std::abs(flips - 200) < 50);  // standard deviation 10
  }
}

// Each pixel, moved by |u| of its distance to the brightest or darkest of itself and its
// neighbours.
std::vector<double> with_strokes(const Image& source, Size size, double u) {
  const auto pixel = [&](int row, int col, int c) {
    const bool inside = row >= 0 && row < size.rows && col >= 0 && col < size.cols;
    return inside ? static_cast<double>(source[(row * size.cols + col) * size.channels + c]) : 0.0;
  };
  std::vector<double> target;
  for (int row = 0; row < size.rows; ++row)
    for (int col = 0; col < size.cols; ++col)
      for (int c = 0; c < size.channels; ++c) {
        const std::initializer_list<double> cross = {pixel(row, col, c), pixel(row - 1, col, c),
                                                     pixel(row + 1, col, c), pixel(row, col - 1, c),
                                                     pixel(row, col + 1, c)};
        const double extreme = u > 0.0 ? std::max(cross) : std::min(cross);
        target.push_back((1.0 - std::abs(u)) * pixel(row, col, c) + std::abs(u) * extreme);
      }
  return target;
}

TEST_CASE("strokes become thicker and thinner by as much as is drawn, which is drawn last") {
  for (const Size size : kSizes)
    for (const double bound : {0.3, 1.0}) {
      const Image source = random_image(size);
      int thicker = 0;
      for (std::uint32_t scene = 0; scene < 40; ++scene) {
        RandomStream stream = stream_of(scene);
        for (int k = 0; k < 5; ++k) stream.bits();  // rotation, scale, shear, shifts
        const double u = bound * (2.0 * stream.uniform() - 1.0);
        thicker += u > 0.0 ? 1 : 0;
        const Image fast = distort({.stroke = bound}, source, size, stream_of(scene));
        const std::vector<double> naive = with_strokes(source, size, u);
        for (int i = 0; i < size.count(); ++i)
          REQUIRE(std::abs(fast[i] - naive[i]) < 1.01);  // |u| is rounded to 256ths, then the pixel
      }
      CHECK(thicker > 5);
      CHECK(thicker < 35);
    }
}

TEST_CASE("other strokes are distorted as the image itself is") {
  const Size size{28, 28, 1};
  const Image source = random_image(size);
  const AugmentationConfig config{15.0, 0.2, 0.3, 2.5, 2.0};
  AugmentationConfig with_stroke = config;
  with_stroke.stroke = 1e-6;  // drawn, and too little to change a pixel
  CHECK(distort(with_stroke, source, size, stream_of(3)) ==
        distort(config, source, size, stream_of(3)));
}

TEST_CASE("a white image stays white inside") {
  const Size size{28, 28, 1};
  const Image white(size.count(), 255);
  for (std::uint32_t scene = 0; scene < 50; ++scene) {
    const Image target = distort({20.0, 0.1, 0.1, 2.0}, white, size, stream_of(scene));
    for (int row = 12; row < 16; ++row)
      for (int col = 12; col < 16; ++col) CHECK(target[row * 28 + col] == 255);
  }
}

}  // namespace
}  // namespace saccade
