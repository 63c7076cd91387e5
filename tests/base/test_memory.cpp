// How much memory is left.
#include "base/memory.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support.h"

namespace saccade {

TEST_CASE("what a control group holds of files counts as left") {
  const TemporaryFolder group;
  CHECK(memory_left_in(group.path) == std::numeric_limits<std::int64_t>::max());
  put_bytes(group.path / "memory.max", "max\n");
  put_bytes(group.path / "memory.current", "700\n");
  CHECK(memory_left_in(group.path) == std::numeric_limits<std::int64_t>::max());
  put_bytes(group.path / "memory.max", "1000\n");
  CHECK(memory_left_in(group.path) == 300);
  put_bytes(group.path / "memory.stat", "anon 200\ninactive_file 450\nactive_file 50\n");
  CHECK(memory_left_in(group.path) == 750);
  put_bytes(group.path / "memory.current", "1200\n");
  CHECK(memory_left_in(group.path) == 250);
}

}  // namespace saccade
