#include "base/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

namespace saccade {

void Crc32::add(const void* bytes, std::size_t size) {
  // An empty block may have a null pointer, which zlib takes as a request to start a new checksum.
  if (size > 0)
    value_ = static_cast<std::uint32_t>(crc32_z(value_, static_cast<const Bytef*>(bytes), size));
}

std::string Crc32::hex() const { return fmt::format("{:08x}", value_); }

Crc32 crc32_of(const void* bytes, std::size_t size) {
  Crc32 crc;
  crc.add(bytes, size);
  return crc;
}

}  // namespace saccade
