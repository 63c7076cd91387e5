#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace saccade {

/// One array of an .npz file.
struct NpzArray {
  std::string name;
  std::vector<std::size_t> shape;
  std::variant<std::vector<float>, std::vector<int>> values;  // row-major

  std::size_t size() const;  // how many numbers the shape has room for
};

/// An array of zeros.
NpzArray float_array(std::string name, std::vector<std::size_t> shape);
/// An array of `value`.
NpzArray int_array(std::string name, std::vector<std::size_t> shape, int value);

/// Writes arrays as numpy.savez does (numpy.load reads them): a zip file, not compressed, of one
/// <name>.npy each, over what is there. The same arrays give the same bytes. Throws
/// std::runtime_error naming the file and the fault.
void write_npz(const std::filesystem::path& path, std::vector<NpzArray> arrays);

}  // namespace saccade
