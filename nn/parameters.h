#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// Draws the initial value of one number from the parameter's own stream.
using Initial = std::function<float(RandomStream& stream, int row, int col)>;

Initial constant(float value);
/// N(0, 2 / fan_in), for layers followed by a ReLU (He et al. 2015).
Initial he_normal(int fan_in);
/// U(-1 / sqrt(fan_in), 1 / sqrt(fan_in)).
Initial uniform_fan_in(int fan_in);
/// N(0, deviation^2).
Initial normal(float deviation);

/// One named matrix inside the flat parameter block. Vectors have one row.
struct Parameter {
  std::string name;
  int rows = 0;
  int cols = 0;
  std::size_t offset = 0;
  Initial initial;

  std::size_t size() const { return static_cast<std::size_t>(rows) * cols; }
};

/// Names and positions of all parameters of a model. The parameters, their gradients, their
/// averages and the optimiser's state are blocks of equal size that share this layout.
class ParameterLayout {
 public:
  /// Registers a parameter and returns its index. A repeated name throws std::logic_error.
  int add(std::string name, int rows, int cols, Initial initial);
  /// Orders the block by name prefix, whatever the order of registration. A parameter takes the
  /// position of the longest matching prefix in `beginnings`, or comes last if none matches; ties
  /// keep the order of registration. Indices do not change. Call at most once, before a block is
  /// created.
  void arrange(std::span<const std::string_view> beginnings);

  /// Number of floats in a block, including padding (which stays zero).
  std::size_t size() const { return size_; }
  /// Number of trained parameters, without padding.
  std::size_t count() const;
  /// In block order.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const Parameter& operator[](int index) const { return parameters_[places_[index]]; }

  Matrix view(std::span<float> block, int index) const;
  ConstMatrix view(std::span<const float> block, int index) const;

  /// Draws every parameter from its own stream, keyed by seed and name, so that models which share
  /// a name and a shape share the value.
  void initialize(std::span<float> block, std::uint64_t seed) const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<int> places_;  // index -> position in parameters_
  std::size_t size_ = 0;
};

}  // namespace saccade
