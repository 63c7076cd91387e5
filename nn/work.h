#pragma once

#include <cstdint>

namespace saccade {

/// Multiply-adds of matrix products, counted from the shapes: what the maths requires, not what the
/// implementation happens to compute.
struct Work {
  std::int64_t forward = 0;
  std::int64_t backward = 0;

  Work operator+(const Work& other) const {
    return {forward + other.forward, backward + other.backward};
  }
  Work operator*(std::int64_t times) const { return {forward * times, backward * times}; }
};

/// Whether the gradient of a layer's input is needed.
enum class Input { differentiated, constant };

/// Work of a (rows, cols) weight on one row. Backward counts the weight gradient and, if needed,
/// the input gradient.
inline Work linear_work(int rows, int cols, Input input = Input::differentiated) {
  const std::int64_t product = std::int64_t{rows} * cols;
  return {product, input == Input::differentiated ? 2 * product : product};
}

}  // namespace saccade
