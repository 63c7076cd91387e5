#pragma once

#include <cstdint>

namespace saccade {

/// Multiply-adds of matrix products, counted from the shapes: what the maths needs, not what
/// happens to be computed.
struct Work {
  std::int64_t forward = 0;
  std::int64_t backward = 0;

  Work operator+(const Work& other) const {
    return {forward + other.forward, backward + other.backward};
  }
  Work operator*(std::int64_t times) const { return {forward * times, backward * times}; }
};

/// Whether a gradient is asked for of what a weight is applied to.
enum class Input { differentiated, constant };

/// A (rows, cols) weight applied to one row. Backward: the weight's gradient, and the input's.
inline Work linear_work(int rows, int cols, Input input = Input::differentiated) {
  const std::int64_t product = std::int64_t{rows} * cols;
  return {product, input == Input::differentiated ? 2 * product : product};
}

}  // namespace saccade
