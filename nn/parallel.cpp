#include "nn/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <optional>

namespace saccade {

// An arena bounds its own threads. The control is of the whole process, the least of all that live:
// there is one only where more threads are wanted than TBB would begin by itself.
struct Workers::Arena {
  explicit Arena(int threads) : arena(threads) {
    if (threads > tbb::info::default_concurrency())
      allowed.emplace(tbb::global_control::max_allowed_parallelism,
                      static_cast<std::size_t>(threads));
  }
  std::optional<tbb::global_control> allowed;
  tbb::task_arena arena;
};

Workers::Workers(int threads) : threads_(threads > 0 ? threads : tbb::info::default_concurrency()) {
  arena_ = std::make_unique<Arena>(threads_);
}

Workers::~Workers() = default;

void Workers::run(int count, const void* context, Call call) {
  arena_->arena.execute([&] {
    tbb::parallel_for(
        0, count, 1, [&](int i) { call(handoff_, context, i); }, tbb::simple_partitioner());
  });
}

}  // namespace saccade
