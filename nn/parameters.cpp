#include "nn/parameters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace saccade {
namespace {

constexpr std::size_t kLine = 16;  // floats: one 64-byte line

std::size_t padded(std::size_t size) { return (size + kLine - 1) / kLine * kLine; }

// Returns the index of the longest of `beginnings` that `name` starts with.
std::size_t rank(const std::string& name, std::span<const std::string_view> beginnings) {
  std::size_t best = beginnings.size(), length = 0;
  for (std::size_t i = 0; i < beginnings.size(); ++i)
    if (beginnings[i].size() > length && name.starts_with(beginnings[i])) {
      best = i;
      length = beginnings[i].size();
    }
  return best;
}

// FNV-1a, which gives every name its own stream.
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
  places_.push_back(static_cast<int>(places_.size()));
  size_ += padded(parameters_.back().size());
  return places_.back();
}

void ParameterLayout::arrange(std::span<const std::string_view> beginnings) {
  std::vector<int> order(parameters_.size());  // indices in block order
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::less(),
                           [&](int index) { return rank(parameters_[index].name, beginnings); });
  std::vector<Parameter> arranged;
  size_ = 0;
  for (const int index : order) {
    places_[index] = static_cast<int>(arranged.size());
    arranged.push_back(std::move(parameters_[index]));
    arranged.back().offset = size_;
    size_ += padded(arranged.back().size());
  }
  parameters_ = std::move(arranged);
}

std::size_t ParameterLayout::count() const {
  std::size_t total = 0;
  for (const Parameter& p : parameters_) total += p.size();
  return total;
}

Matrix ParameterLayout::view(std::span<float> block, int index) const {
  const Parameter& p = (*this)[index];
  return {block.data() + p.offset, p.rows, p.cols, p.cols};
}

ConstMatrix ParameterLayout::view(std::span<const float> block, int index) const {
  const Parameter& p = (*this)[index];
  return {block.data() + p.offset, p.rows, p.cols, p.cols};
}

void ParameterLayout::initialize(std::span<float> block, std::uint64_t seed) const {
  for (const Parameter& p : parameters_) {
    RandomStream stream(seed, Purpose::initial_weights, 0, hash(p.name));
    const Matrix values = {block.data() + p.offset, p.rows, p.cols, p.cols};
    for (int r = 0; r < values.rows; ++r)
      for (int c = 0; c < values.cols; ++c) values(r, c) = p.initial(stream, r, c);
  }
}

}  // namespace saccade
