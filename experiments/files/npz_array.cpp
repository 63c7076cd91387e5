#include <functional>
#include <numeric>
#include <utility>

#include "experiments/files/npz.h"

namespace saccade {

std::size_t NpzArray::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies());
}

NpzArray float_array(std::string name, std::vector<std::size_t> shape) {
  NpzArray array{std::move(name), std::move(shape), {}};
  array.values = std::vector<float>(array.size());
  return array;
}

NpzArray int_array(std::string name, std::vector<std::size_t> shape, int value) {
  NpzArray array{std::move(name), std::move(shape), {}};
  array.values = std::vector<int>(array.size(), value);
  return array;
}

}  // namespace saccade
