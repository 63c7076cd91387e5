// A training's memory does not grow with its length, according to the allocator.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "experiments/training/train.h"
#include "tests/experiments/support.h"

#if defined(__SANITIZE_ADDRESS__)  // has its own allocator; its header is not always installed
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#else
#include <malloc.h>
#endif

namespace saccade {
namespace {

std::size_t bytes_held() {
#if defined(__SANITIZE_ADDRESS__)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 held = mallinfo2();
  return held.uordblks + held.hblkhd;
#endif
}

/// Bytes allocated by the process after each row of metrics.csv.
struct HeldAtRows : Progress {
  std::vector<std::size_t> bytes;

  HeldAtRows() { bytes.reserve(1000); }
  void row(const MetricsRow&, TrainingHandle&) override { bytes.push_back(bytes_held()); }
};

constexpr std::int64_t kMemoryRows = 40, kBatch = 4;
// The text of rows varies in length. A block leaked at each update would be far larger.
constexpr std::size_t kSlack = 8192;

/// SACCADE_MILLION_UPDATES=1 runs the long version (a quarter of an hour).
std::int64_t updates() {
  return std::getenv("SACCADE_MILLION_UPDATES") != nullptr ? 1'000'000 : 2'000;
}

TEST_CASE("a training's memory after its last row equals that after its tenth") {
  const TinyExperiment tiny;
  for (const std::string kind : {"sampled", "soft_grid"}) {
    CAPTURE(kind);
    Overrides overrides = {fmt::format("training.episodes={}", updates() * kBatch),
                           fmt::format("training.batch_size={}", kBatch),
                           fmt::format("log.every={}", updates() / kMemoryRows * kBatch),
                           fmt::format("evaluation.every={}", updates() / kMemoryRows * kBatch),
                           "log.jsonl=true",
                           "log.tensorboard=true",
                           "evaluation.scenes=8"};
    if (kind == "soft_grid")
      for (const char* setting : {"kind=soft_grid", "grid=[2, 3]", "stride=4"})
        overrides.push_back(std::string("attention.glimpse.") + setting);
    HeldAtRows held;
    const std::atomic<bool> stop = false;
    REQUIRE(train(read_config(tiny.yaml, overrides), RunFolder(tiny.path / kind),
                  {.resume = false, .threads = 1, .command = "saccade run"}, held, stop));
    REQUIRE(held.bytes.size() == kMemoryRows);
    MESSAGE(kind << ": " << held.bytes[9] << " bytes after " << updates() / 4 << " updates, "
                 << held.bytes.back() << " after " << updates());
    CHECK(held.bytes.back() <= held.bytes[9] + kSlack);
  }
}

}  // namespace
}  // namespace saccade
