#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "env/retina.h"
#include "nn/random.h"

namespace saccade {

/// A retina and the canvas it is for.
struct Case {
  RetinaConfig config;
  int rows, cols, channels;
};

inline std::vector<std::uint8_t> random_canvas(const Case& c, RandomStream& stream) {
  std::vector<std::uint8_t> canvas(static_cast<std::size_t>(c.channels) * c.rows * c.cols);
  for (std::uint8_t& pixel : canvas) pixel = static_cast<std::uint8_t>(stream.below(256));
  return canvas;
}

/// The retina with a canvas in front of it.
struct Eye {
  Eye(const Case& c, const std::vector<std::uint8_t>& canvas)
      : retina(c.config, c.rows, c.cols, c.channels), prepared(retina.prepared_size()) {
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
