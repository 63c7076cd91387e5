#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace saccade {

/// CRC-32 (ISO 3309, as in zip and PNG) of bytes that are added block by block.
class Crc32 {
 public:
  void add(const void* bytes, std::size_t size);
  std::uint32_t value() const { return value_; }
  /// Returns eight lower-case hexadecimal digits.
  std::string hex() const;

 private:
  std::uint32_t value_ = 0;
};

/// Returns the checksum of one block.
Crc32 crc32_of(const void* bytes, std::size_t size);

}  // namespace saccade
