#include "nn/parameters.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace saccade {
namespace {

constexpr std::size_t kLine = 16;  // floats: one 64-byte line

// FNV-1a, to give every name a stream of its own.
std::uint32_t hash(const std::string& name) {
  std::uint32_t value = 2166136261U;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 16777619U;
  return value;
}

}  // namespace

Initial constant(float value) {
  return [value](RandomStream&, int, int) { return value; };
}

Initial he_normal(int fan_in) { return normal(std::sqrt(2.0F / static_cast<float>(fan_in))); }

Initial uniform_fan_in(int fan_in) {
  const float bound = 1.0F / std::sqrt(static_cast<float>(fan_in));
  return [bound](RandomStream& stream, int, int) { return stream.uniform(-bound, bound); };
}

Initial normal(float deviation) {
  return [deviation](RandomStream& stream, int, int) { return deviation * stream.normal(); };
}

int ParameterLayout::add(std::string name, int rows, int cols, Initial initial) {
  if (std::ranges::any_of(parameters_, [&](const Parameter& p) { return p.name == name; }))
    throw std::logic_error("parameter registered twice: " + name);
  parameters_.push_back({std::move(name), rows, cols, size_, std::move(initial)});
  const std::size_t lines = (parameters_.back().size() + kLine - 1) / kLine;
  size_ += lines * kLine;
  return static_cast<int>(parameters_.size()) - 1;
}

std::size_t ParameterLayout::count() const {
  std::size_t total = 0;
  for (const Parameter& p : parameters_) total += p.size();
  return total;
}

Matrix ParameterLayout::view(std::span<float> block, int index) const {
  const Parameter& p = parameters_[index];
  return {block.data() + p.offset, p.rows, p.cols, p.cols};
}

ConstMatrix ParameterLayout::view(std::span<const float> block, int index) const {
  const Parameter& p = parameters_[index];
  return {block.data() + p.offset, p.rows, p.cols, p.cols};
}

void ParameterLayout::initialize(std::span<float> block, std::uint64_t seed) const {
  for (const Parameter& p : parameters_) {
    RandomStream stream(seed, Purpose::initial_weights, 0, hash(p.name));
    const Matrix values = view(block, static_cast<int>(&p - parameters_.data()));
    for (int r = 0; r < values.rows; ++r)
      for (int c = 0; c < values.cols; ++c) values(r, c) = p.initial(stream, r, c);
  }
}

}  // namespace saccade
