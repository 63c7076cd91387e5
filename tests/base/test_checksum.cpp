#include "base/checksum.h"

#include <doctest/doctest.h>

namespace saccade {
namespace {

TEST_CASE("CRC-32 of blocks equals that of their bytes, with the standard's check value") {
  CHECK(crc32_of("123456789", 9).hex() == "cbf43926");
  Crc32 crc;
  CHECK(crc.value() == 0);
  crc.add("1234", 4);
  crc.add(nullptr, 0);
  crc.add("56789", 5);
  CHECK(crc.value() == 0xcbf43926);
  CHECK(crc32_of("", 0).hex() == "00000000");
}

}  // namespace
}  // namespace saccade
