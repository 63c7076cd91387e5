// A page has no files: digits and agents come as bytes. These stand behind the headers of the
// readers, so that what names them links.
#include <zlib.h>

#include <array>

#include "base/error.h"
#include "env/digits.h"

namespace saccade {
namespace {

[[noreturn]] RawDatasets no_files() { throw InputError("a page reads no files of datasets"); }

}  // namespace

RawDatasets read_idx(const std::filesystem::path&, const std::map<std::string, std::uint32_t>&,
                     const std::array<const char*, 4>&) {
  no_files();
}
RawDatasets read_svhn(const std::filesystem::path&) { no_files(); }
RawDatasets read_cifar10(const std::filesystem::path&) { no_files(); }
RawDatasets read_folder(const std::filesystem::path&, int, const std::filesystem::path&) {
  no_files();
}
void read_class_names(RawDatasets&, const std::filesystem::path&) { no_files(); }

}  // namespace saccade

/// CRC-32 as zlib computes it.
extern "C" uLong crc32_z(uLong crc, const Bytef* bytes, z_size_t size) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> all{};
    for (std::uint32_t n = 0; n < all.size(); ++n) {
      std::uint32_t c = n;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0xEDB88320U : 0U);
      all[n] = c;
    }
    return all;
  }();
  auto c = ~static_cast<std::uint32_t>(crc);
  for (z_size_t i = 0; i < size; ++i) c = table[(c ^ bytes[i]) & 0xFF] ^ (c >> 8);
  return ~c;
}
