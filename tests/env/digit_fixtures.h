#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/digits.h"
#include "env/scene.h"
#include "nn/random.h"

namespace saccade {

/// A dataset with pixels pixel(index, row, col, channel) and labels 0, 1, ...
template <class Pixel>
Dataset make_digits(int count, int rows, int cols, int channels, int classes, Pixel&& pixel) {
  Dataset digits;
  digits.images = xt::xtensor<std::uint8_t, 4>::from_shape(
      {static_cast<std::size_t>(count), static_cast<std::size_t>(rows),
       static_cast<std::size_t>(cols), static_cast<std::size_t>(channels)});
  digits.labels = xt::xtensor<int, 1>::from_shape({static_cast<std::size_t>(count)});
  digits.classes = classes;
  for (int n = 0; n < count; ++n) {
    digits.labels(n) = n % classes;
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < cols; ++col)
        for (int c = 0; c < channels; ++c)
          digits.images(n, row, col, c) = static_cast<std::uint8_t>(pixel(n, row, col, c));
  }
  return digits;
}

/// Digits with random pixels.
inline Dataset noise_digits(int count, int rows, int cols, int channels, int classes) {
  RandomStream stream(99, Purpose::synthetic_digits, 0, 0);
  return make_digits(count, rows, cols, channels, classes,
                     [&](int, int, int, int) { return stream.below(256); });
}

/// Such digits of 8 x 8 pixels as the data of a task, the same in every split.
inline std::shared_ptr<const Digits> noise_data(int count, int channels, int classes) {
  Digits digits;
  digits.train = digits.valid = digits.test = noise_digits(count, 8, 8, channels, classes);
  for (int c = 0; c < classes; ++c) digits.class_names.push_back(std::to_string(c));
  return std::make_shared<const Digits>(std::move(digits));
}

/// One scene and its facts.
struct Scene {
  std::vector<std::uint8_t> canvas;  // (channels, rows, cols)
  SceneFacts facts;
};

inline Scene draw(const SceneMaker& maker, std::uint64_t number) {
  SceneMaker::Buffer buffer = maker.make_buffer();
  const SceneFacts facts = maker.make(number, buffer);
  return {buffer.canvas, facts};
}

}  // namespace saccade
