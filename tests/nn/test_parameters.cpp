#include "nn/parameters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/statistics.h"
#include "tests/support.h"

namespace saccade {
namespace {

std::vector<float> initialized(const ParameterLayout& layout, std::uint64_t seed) {
  std::vector<float> block(layout.size());
  layout.initialize(block, seed);
  return block;
}

std::vector<float> values_of(const ParameterLayout& layout, std::span<const float> block,
                             int index) {
  const ConstMatrix m = layout.view(block, index);
  return {m.data, m.data + layout[index].size()};
}

TEST_CASE("parameters do not overlap, and each starts on a boundary of 16 floats") {
  ParameterLayout layout;
  const std::vector<std::array<int, 2>> shapes = {{1, 1}, {3, 5}, {1, 16}, {4, 4}, {1, 17}, {7, 9}};
  std::size_t count = 0;
  for (const auto& [rows, cols] : shapes) {
    const int index = layout.add("p" + std::to_string(count), rows, cols, constant(1.0F));
    CHECK(layout[index].rows == rows);
    CHECK(layout[index].cols == cols);
    count += layout[index].size();
  }
  CHECK(layout.parameters().size() == shapes.size());
  CHECK(layout.count() == count);
  CHECK(count == 1 + 15 + 16 + 16 + 17 + 63);
  CHECK(layout.size() % 16 == 0);
  std::size_t end = 0;
  for (const Parameter& p : layout.parameters()) {
    CHECK(p.offset % 16 == 0);
    CHECK(p.offset >= end);
    CHECK(p.offset < end + 16);  // no unnecessary padding
    end = p.offset + p.size();
  }
  CHECK(layout.size() >= end);

  // The padding is not initialised randomly.
  const std::vector<float> block = initialized(layout, 1);
  CHECK(std::ranges::count(block, 1.0F) == static_cast<std::ptrdiff_t>(count));
  CHECK(std::ranges::count(block, 0.0F) == static_cast<std::ptrdiff_t>(block.size() - count));
}

TEST_CASE("a view reads and writes its parameter row by row") {
  ParameterLayout layout;
  layout.add("before", 2, 3, constant(0.0F));
  const int index = layout.add("w", 3, 5, [](RandomStream&, int row, int col) {
    return static_cast<float>(10 * row + col);
  });
  layout.add("after", 1, 1, constant(0.0F));
  std::vector<float> block = initialized(layout, 1);
  const ConstMatrix view = layout.view(std::span<const float>(block), index);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 5; ++c) CHECK(view(r, c) == static_cast<float>(10 * r + c));
  layout.view(std::span(block), index)(2, 4) = -1.0F;
  CHECK(view(2, 4) == -1.0F);
  CHECK(block[layout[index].offset + 14] == -1.0F);
}

TEST_CASE("a repeated parameter name is refused with the name") {
  ParameterLayout layout;
  layout.add("core.w", 2, 2, constant(0.0F));
  const std::string message =
      message_of<std::logic_error>([&] { layout.add("core.w", 3, 3, constant(0.0F)); });
  CHECK(message.find("core.w") != std::string::npos);
  CHECK(layout.parameters().size() == 1);
}

TEST_CASE("initial values depend only on the seed and the name, not on other parameters") {
  ParameterLayout small, large;
  const int in_small = small.add("core.w", 4, 6, normal(1.0F));
  large.add("glimpse.w", 10, 10, normal(1.0F));
  const int in_large = large.add("core.w", 4, 6, normal(1.0F));
  const int other = large.add("core.v", 4, 6, normal(1.0F));
  const std::vector<float> block = initialized(large, 7);
  const std::vector<float> values = values_of(small, initialized(small, 7), in_small);
  CHECK(values_of(large, block, in_large) == values);
  CHECK(values_of(large, block, other) != values);
  CHECK(values_of(small, initialized(small, 8), in_small) != values);
}

TEST_CASE("initial values have the distribution of their initialiser") {
  ParameterLayout layout;
  const int he = layout.add("he", 200, 100, he_normal(50));
  const int uniform = layout.add("uniform", 200, 100, uniform_fan_in(25));
  const int gauss = layout.add("gauss", 200, 100, normal(0.02F));
  const int fixed = layout.add("fixed", 1, 10, constant(-1.5F));
  const std::vector<float> block = initialized(layout, 3);
  const auto sample = [&](int index, double unit) {
    std::vector<double> scaled;
    for (const float x : values_of(layout, block, index)) scaled.push_back(x / unit);
    return scaled;
  };
  CHECK(kolmogorov_distance(sample(he, std::sqrt(2.0 / 50.0)), normal_cdf) < 1.95);
  CHECK(kolmogorov_distance(sample(gauss, 0.02), normal_cdf) < 1.95);
  CHECK(kolmogorov_distance(sample(uniform, 1.0 / 5.0),
                            [](double x) { return std::clamp(0.5 * (x + 1.0), 0.0, 1.0); }) < 1.95);
  CHECK(values_of(layout, block, fixed) == std::vector<float>(10, -1.5F));
}

}  // namespace
}  // namespace saccade
