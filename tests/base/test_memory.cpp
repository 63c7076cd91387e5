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

TEST_CASE("a group has what is left in it and in all groups above it") {
  const TemporaryFolder root;
  const auto limit = [&](const std::string& group, const std::string& most) {
    fs::create_directories(root.path / group);
    put_bytes(root.path / group / "memory.max", most + "\n");
    put_bytes(root.path / group / "memory.current", "100\n");
  };
  limit("job", "500");
  limit("job/step", "1000");
  limit("job/step/task", "max");
  CHECK(memory_left_in(root.path, "/") == std::numeric_limits<std::int64_t>::max());
  CHECK(memory_left_in(root.path, "/job/step/task") == 400);
  limit("job/step", "300");
  CHECK(memory_left_in(root.path, "/job/step/task") == 200);
  CHECK(memory_left_in(root.path, "/job") == 400);
  CHECK(memory_left_in(root.path, "/../job") == std::numeric_limits<std::int64_t>::max());
}

}  // namespace saccade
