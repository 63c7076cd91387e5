#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "tests/support.h"

std::filesystem::path saccade::source_folder() { return SACCADE_SOURCE_DIR; }

namespace {

// Runs wait until the disk has their files for good (fsync). In memory, all tests together take a
// quarter of the time.
void keep_temporary_files_in_memory() {
  constexpr const char* kMemory = "/dev/shm";
  constexpr std::uintmax_t kEnough = 1'000'000'000;
  std::error_code error;
  const auto space = std::filesystem::space(kMemory, error);
  if (!error && space.available > kEnough && access(kMemory, W_OK) == 0)
    setenv("TMPDIR", kMemory, /*overwrite=*/0);
}

}  // namespace

int main(int argc, char** argv) {
  keep_temporary_files_in_memory();
  return doctest::Context(argc, argv).run();
}
