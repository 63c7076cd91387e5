// Looks of the retina with a zoom (Retina::look_zoomed).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "tests/env/eye.h"
#include "tests/support.h"

namespace saccade {
namespace {

using Location = std::array<double, 3>;

struct ZoomedLook {
  std::vector<float> glimpse, slopes;
};

ZoomedLook look_zoomed(const Eye& eye, const Location& at) {
  const std::array<float, 3> location = {static_cast<float>(at[0]), static_cast<float>(at[1]),
                                         static_cast<float>(at[2])};
  const int size = eye.retina.glimpse_size();
  ZoomedLook seen{std::vector<float>(size, NAN), std::vector<float>(3 * size, NAN)};
  eye.retina.look_zoomed(eye.prepared, location.data(), seen.glimpse.data(), seen.slopes.data());
  std::vector<float> alone(size, NAN);
  eye.retina.look_zoomed(eye.prepared, location.data(), alone.data(), nullptr);
  CHECK(alone == seen.glimpse);
  return seen;
}

/// The integral of the canvas over each cell divided by its area, pixel by pixel.
std::vector<double> naive_zoomed_look(const Case& c, const std::vector<std::uint8_t>& canvas,
                                      const Location& at) {
  const int patch = c.config.patch_size;
  const double zoom = c.zoom.from * std::pow(c.zoom.to / c.zoom.from, (1.0 + at[2]) / 2.0);
  std::vector<double> glimpse;
  for (int s = 0; s < c.config.scales; ++s) {
    const double box = zoom * std::pow(c.config.scale_factor, s);
    for (int channel = 0; channel < c.channels; ++channel)
      for (int i = 0; i < patch * patch; ++i) {
        const double top = 0.5 * (at[1] + 1.0) * c.rows + (i / patch - 0.5 * patch) * box;
        const double left = 0.5 * (at[0] + 1.0) * c.cols + (i % patch - 0.5 * patch) * box;
        double sum = 0.0;
        for (int row = 0; row < c.rows; ++row)
          for (int col = 0; col < c.cols; ++col) {
            const double height = std::min(top + box, row + 1.0) - std::max(top, 1.0 * row);
            const double width = std::min(left + box, col + 1.0) - std::max(left, 1.0 * col);
            if (height > 0.0 && width > 0.0)
              sum += height * width / 255.0 * canvas[(channel * c.rows + row) * c.cols + col];
          }
        glimpse.push_back(sum / (box * box));
      }
  }
  return glimpse;
}

const std::vector<Case>& zoomed_cases() {
  static const std::vector<Case> all = {{{4, 1, 2}, 15, 15, 1, {1.0, 3.5}},
                                        {{3, 3, 2}, 13, 19, 1, {1.2, 4.0}},
                                        {{5, 2, 3}, 9, 22, 3, {1.0, 4.4}},
                                        {{1, 2, 2}, 7, 6, 1, {2.0, 7.0}},
                                        {{6, 1, 1}, 12, 12, 1, {1.0, 2.0}}};
  return all;
}

TEST_CASE("a look with a zoom averages the canvas over boxes with real edges") {
  for (const Case& c : zoomed_cases()) {
    CAPTURE(text(c));
    RandomStream stream(1, Purpose::scene, 0, 0);
    const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
    const Eye eye(c, canvas);
    CHECK(eye.retina.location_size() == 3);
    for (const double x : {-1.0, -0.5, 0.0, 1.0})
      for (const double y : {-1.0, 0.0, 0.5, 1.0})
        for (const double u : {-1.0, 0.0, 1.0})
          CHECK(largest_difference(look_zoomed(eye, {x, y, u}).glimpse,
                                   naive_zoomed_look(c, canvas, {x, y, u})) < 1e-5);
  }
}

// The slopes jump where an edge of a box crosses one of a pixel: there one of both sides must
// agree, and a relative step between them says nothing.
TEST_CASE("the slopes of a look with a zoom are its derivatives, by the zoom too") {
  for (const Case& c : zoomed_cases()) {
    CAPTURE(text(c));
    RandomStream stream(2, Purpose::scene, 0, 0);
    const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
    const Eye eye(c, canvas);
    const std::size_t size = eye.retina.glimpse_size();
    std::size_t compared = 0, all = 0;
    for (int n = 0; n < 30; ++n) {
      // Location components as float, as the look gets them.
      Location at;
      for (double& number : at) number = static_cast<double>(stream.uniform(-1.0F, 1.0F));
      const ZoomedLook seen = look_zoomed(eye, at);
      for (int axis = 0; axis < 3; ++axis) {
        constexpr double kStep = 1e-6;
        Location before = at, after = at;
        before[axis] -= kStep;
        after[axis] += kStep;
        const std::vector<double> below = naive_zoomed_look(c, canvas, before);
        const std::vector<double> here = naive_zoomed_look(c, canvas, at);
        const std::vector<double> above = naive_zoomed_look(c, canvas, after);
        for (std::size_t k = 0; k < size; ++k, ++all) {
          const double left = (here[k] - below[k]) / kStep, right = (above[k] - here[k]) / kStep;
          if (std::abs(left - right) > 1e-4 * std::max(c.rows, c.cols)) continue;
          ++compared;
          REQUIRE(std::abs(seen.slopes[axis * size + k] - 0.5 * (left + right)) <
                  1e-4 * std::max(c.rows, c.cols));
        }
      }
    }
    CHECK(100 * compared > 99 * all);
  }
}

TEST_CASE("the closest zoom of 1 reads between pixels as a smooth look does") {
  for (const Case& c : zoomed_cases()) {
    if (c.zoom.from != 1.0) continue;
    CAPTURE(text(c));
    RandomStream stream(3, Purpose::scene, 0, 0);
    const Eye eye(c, random_canvas(c, stream));
    const int size = eye.retina.glimpse_size();
    for (int n = 0; n < 20; ++n) {
      const float x = stream.uniform(-1.0F, 1.0F), y = stream.uniform(-1.0F, 1.0F);
      const ZoomedLook seen = look_zoomed(eye, {x, y, -1.0});
      std::vector<float> glimpse(size), slopes(2 * size);
      eye.retina.look_smoothly(eye.prepared, x, y, glimpse.data(), slopes.data());
      for (int i = 0; i < size; ++i)
        REQUIRE(seen.glimpse[i] == doctest::Approx(glimpse[i]).epsilon(1e-4));
      for (int i = 0; i < 2 * size; ++i)
        REQUIRE(seen.slopes[i] == doctest::Approx(slopes[i]).scale(1.0).epsilon(1e-3));
    }
  }
}

TEST_CASE("a retina with a zoom is prepared anew for each scene, and shows the canvas itself") {
  const Case& c = zoomed_cases()[2];
  RandomStream stream(4, Purpose::scene, 0, 0);
  Eye eye(c, random_canvas(c, stream));
  const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
  eye.retina.prepare(canvas, eye.prepared);
  CHECK(look_zoomed(eye, {0.3, -0.2, 0.4}).glimpse ==
        look_zoomed(Eye(c, canvas), {0.3, -0.2, 0.4}).glimpse);
  std::vector<float> seen(canvas.size());
  eye.retina.view(eye.prepared, seen.data());
  for (std::size_t i = 0; i < canvas.size(); ++i)
    REQUIRE(seen[i] == doctest::Approx(canvas[i] / 255.0).epsilon(1e-6));
}

TEST_CASE("the backward pass of a look with a zoom is its transpose, everywhere on the canvas") {
  RandomStream stream(5, Purpose::scene, 0, 0);
  for (const Case& c : zoomed_cases())
    for (int n = 0; n < 20; ++n) {
      CAPTURE(text(c));
      const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
      const Eye eye(c, canvas);
      std::array<float, 3> location;
      for (float& number : location) number = stream.uniform(-1.0F, 1.0F);
      if (n < 2) location = {n == 0 ? -1.0F : 1.0F, 1.0F, 1.0F};
      std::vector<float> dglimpse(eye.retina.glimpse_size());
      for (float& value : dglimpse) value = stream.normal();
      std::vector<float> dcanvas(canvas.size(), 0.25F);  // accumulated
      eye.retina.look_zoomed_backward(dcanvas, location.data(), dglimpse);
      const ZoomedLook seen = look_zoomed(eye, {location[0], location[1], location[2]});
      double forward = 0.0, backward = 0.0;
      for (std::size_t i = 0; i < dglimpse.size(); ++i)
        forward += double{seen.glimpse[i]} * dglimpse[i];
      for (std::size_t i = 0; i < canvas.size(); ++i)
        backward += canvas[i] / 255.0 * (dcanvas[i] - 0.25);
      CHECK(backward == doctest::Approx(forward).scale(1.0).epsilon(1e-4));
    }
}

TEST_CASE("a zoom that fits no canvas is refused by key, value and what is allowed") {
  const auto fault = [](const LogRange& zoom, const RetinaConfig& config) {
    return message_of<SettingError>([&] { Retina(config, 60, 100, 1, zoom); });
  };
  CHECK(fault({1.0, 4.0}, {12, 1, 2}) == "nothing thrown");
  CHECK(
      fault({1.0, 10.0}, {12, 1, 2}) ==
      "attention.glimpse.zoom: a retina.patch_size of 12 pixels would cover 120 x 120 of a canvas "
      "of 60 x 100; allowed: to at most 8.333, its longer side");
  CHECK(fault({0.5, 4.0}, {12, 1, 2}).starts_with("attention.glimpse.zoom: 0.5 to 4 pixels"));
  CHECK(fault({4.0, 2.0}, {12, 1, 2}).starts_with("attention.glimpse.zoom: 4 to 2 pixels"));
  CHECK(fault({1.0, 4.0}, {12, 2, 2, "max"}) ==
        "attention.glimpse.zoom: 1 to 4 averages areas, which retina.pooling: max does not; "
        "allowed: mean");
}

}  // namespace
}  // namespace saccade
