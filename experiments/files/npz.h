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

  std::size_t size() const;  // number of elements of the shape
};

/// Returns an array of zeros.
NpzArray float_array(std::string name, std::vector<std::size_t> shape);
/// Returns an array filled with `value`.
NpzArray int_array(std::string name, std::vector<std::size_t> shape, int value);

/// Writes arrays as numpy.savez does (numpy.load reads them): an uncompressed zip file with one
/// <name>.npy each, replacing an existing file. The same arrays give the same bytes. Throws
/// std::runtime_error naming the file and the fault.
void write_npz(const std::filesystem::path& path, std::vector<NpzArray> arrays);

}  // namespace saccade
