#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "env/retina.h"
#include "nn/random.h"

namespace saccade {

/// A retina and the size of its canvas.
struct Case {
  RetinaConfig config;
  int rows, cols, channels;
  LogRange zoom = {};
};

inline std::vector<std::uint8_t> random_canvas(const Case& c, RandomStream& stream) {
  std::vector<std::uint8_t> canvas(static_cast<std::size_t>(c.channels) * c.rows * c.cols);
  for (std::uint8_t& pixel : canvas) pixel = static_cast<std::uint8_t>(stream.below(256));
  return canvas;
}

/// The retina with a prepared canvas.
struct Eye {
  Eye(const Case& c, const std::vector<std::uint8_t>& canvas)
      : retina(c.config, c.rows, c.cols, c.channels, c.zoom), prepared(retina.prepared_size()) {
    retina.prepare(canvas, prepared);
  }
  std::vector<float> look(float x, float y) const {
    std::vector<float> glimpse(retina.glimpse_size(), NAN);
    retina.look(prepared, x, y, glimpse.data());
    return glimpse;
  }

  Retina retina;
  std::vector<std::byte> prepared;
};

/// Returns the largest |actual - expected|; infinity for NaN.
inline double largest_difference(const std::vector<float>& actual,
                                 const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(actual[i] - expected[i]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
}

/// Checks that the retina's `backward` is the transpose of look(eye, x, y), which is linear in the
/// canvas.
template <class Look, class Backward>
void check_transpose(const Look& look, Backward backward) {
  RandomStream stream(6, Purpose::scene, 0, 0);
  for (const Case& c : {Case{{.patch_size = 4, .scales = 3}, 13, 17, 1},
                        Case{{.patch_size = 5, .scales = 2, .scale_factor = 3}, 9, 11, 3}})
    for (int n = 0; n < 40; ++n) {
      const std::vector<std::uint8_t> canvas = random_canvas(c, stream);
      const Eye eye(c, canvas);
      const auto place = [&] { return n == 0 ? -1.0F : n == 1 ? 1.0F : 2 * stream.uniform() - 1; };
      const float x = place(), y = place();
      std::vector<float> dglimpse(eye.retina.glimpse_size());
      for (float& value : dglimpse) value = stream.normal();
      std::vector<float> dcanvas(canvas.size(), 0.25F);  // accumulated
      (eye.retina.*backward)(dcanvas, x, y, dglimpse);
      const std::vector<float> glimpse = look(eye, x, y);
      double seen = 0.0, traced = 0.0;
      for (std::size_t i = 0; i < glimpse.size(); ++i) seen += double{glimpse[i]} * dglimpse[i];
      for (std::size_t i = 0; i < canvas.size(); ++i)
        traced += canvas[i] / 255.0 * (dcanvas[i] - 0.25);
      CHECK(traced == doctest::Approx(seen).epsilon(1e-4));
    }
}

inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{12, 3, 2}, 60, 60, 1},  {{8, 1, 2}, 28, 28, 1}, {{7, 2, 2}, 31, 44, 1},
      {{5, 4, 2}, 40, 23, 3},   {{6, 3, 3}, 50, 37, 1}, {{3, 3, 3}, 17, 20, 3},
      {{12, 4, 2}, 100, 90, 1}, {{9, 2, 4}, 33, 34, 1}, {{1, 4, 2}, 9, 7, 1},
      {{11, 2, 3}, 11, 64, 1},  {{4, 2, 8}, 20, 31, 3}, {{5, 3, 1}, 20, 20, 1}};
  return all;
}

inline std::string text(const Case& c) {
  return fmt::format("P {}, S {}, factor {}, canvas {} x {} x {}", c.config.patch_size,
                     c.config.scales, c.config.scale_factor, c.channels, c.rows, c.cols);
}

}  // namespace saccade
