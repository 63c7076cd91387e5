#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace saccade {

/// The class of an array in MATLAB, by its code in MAT files; others exist.
enum class MatClass : std::uint8_t { float64 = 6, uint8 = 9 };

/// An array of real numbers, which may be stored in a smaller type than its class.
struct MatArray {
  std::vector<std::size_t> shape;
  MatClass value_class;
  std::uint32_t type = 0;            // type of the stored values
  std::vector<std::uint8_t> values;  // of `shape`, first index fastest

  std::size_t size() const;
  double value(std::size_t index) const;
};

/// Reads the arrays with these names from a MAT file of version 5 (little-endian, as all current
/// writers produce; compressed or not) and skips all others. Throws InputError with path and fault.
std::map<std::string, MatArray> read_mat(const std::filesystem::path& path,
                                         std::span<const std::string> names);

}  // namespace saccade
