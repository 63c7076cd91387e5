#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace saccade {

/// CRC-32 (ISO 3309, as in zip and PNG) of bytes that are added one block after another.
class Crc32 {
 public:
  void add(const void* bytes, std::size_t size);
  std::uint32_t value() const { return value_; }
  /// Eight lower-case hexadecimal digits.
  std::string hex() const;

 private:
  std::uint32_t value_ = 0;
};

/// Of one block.
Crc32 crc32_of(const void* bytes, std::size_t size);

}  // namespace saccade
