#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace saccade {

/// What an array is to who works with it, as a MAT file numbers it; there are others.
enum class MatClass : std::uint8_t { float64 = 6, uint8 = 9 };

/// An array of real numbers, which may be stored in a smaller type than that of its class.
struct MatArray {
  std::vector<std::size_t> shape;
  MatClass value_class;
  std::uint32_t type = 0;            // of the values as stored
  std::vector<std::uint8_t> values;  // as many as the shape says; the first index runs fastest

  std::size_t size() const;
  double value(std::size_t index) const;
};

/// The arrays of these names that a MAT file of version 5 has (little-endian as all machines are
/// that write them now; each compressed or not); others are passed over. Throws InputError naming
/// the path and the fault.
std::map<std::string, MatArray> read_mat(const std::filesystem::path& path,
                                         std::span<const std::string> names);

}  // namespace saccade
