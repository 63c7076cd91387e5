#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "env/digits.h"
#include "tests/support.h"

// Dataset files for the tests, valid and invalid.
namespace saccade {

using Bytes = std::vector<std::uint8_t>;

/// The bytes of an IDX file with values counting up from `first`, repeating after `period`.
inline Bytes idx_bytes(std::uint32_t magic, const std::vector<std::uint32_t>& shape, int first = 0,
                       int period = 251) {
  Bytes bytes;
  std::size_t count = 1;
  const auto put = [&](std::uint32_t word) {
    for (const int shift : {24, 16, 8, 0})
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  };
  put(magic);
  for (const std::uint32_t size : shape) {
    put(size);
    count *= size;
  }
  for (std::size_t i = 0; i < count; ++i)
    bytes.push_back(static_cast<std::uint8_t>((i + first) % period));
  return bytes;
}

inline void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

/// A valid IDX dataset: 12 training and 4 test images of 3 x 2 pixels, labels 0 1 2 0 1 2 ...
struct IdxFolder : TemporaryFolder {
  IdxFolder() {
    write(path / kIdxFiles[0], idx_bytes(0x803, {12, 3, 2}));
    write(path / kIdxFiles[1], idx_bytes(0x801, {12}, 0, 3));
    write(path / kIdxFiles[2], idx_bytes(0x803, {4, 3, 2}, 100));
    write(path / kIdxFiles[3], idx_bytes(0x801, {4}, 0, 3));
  }
  std::string fault() const {
    return message_of<InputError>([this] { read_idx(path, {}); });
  }
};

inline std::string load_fault(const DataConfig& config) {
  return message_of<InputError>([&] { load_digits(config); });
}

}  // namespace saccade
