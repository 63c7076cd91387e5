#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <memory>

namespace saccade::python {

template <class T>
using Array = nanobind::ndarray<nanobind::numpy, T, nanobind::c_contig>;

/// Returns a new, uninitialised NumPy array.
template <class T, std::size_t N>
Array<T> new_array(const std::array<std::size_t, N>& shape) {
  std::size_t size = 1;
  for (const std::size_t side : shape) size *= side;
  auto memory = std::make_unique_for_overwrite<T[]>(size);
  T* data = memory.get();
  nanobind::capsule owner(memory.release(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Array<T>(data, N, shape.data(), owner);
}

}  // namespace saccade::python
