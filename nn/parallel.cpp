#include "nn/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace saccade {

struct Workers::Arena {
  explicit Arena(int threads)
      : allowed(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  tbb::global_control allowed;
  tbb::task_arena arena;
};

Workers::Workers(int threads) : threads_(threads > 0 ? threads : tbb::info::default_concurrency()) {
  arena_ = std::make_unique<Arena>(threads_);
}

Workers::~Workers() = default;

void Workers::run(int count, void* context, void (*call)(void*, int)) {
  // The order that TBB itself guarantees, said once more where the thread sanitizer can see it:
  // TBB's own synchronisation is in a library that is not instrumented.
  handoff_.store(0, std::memory_order_release);
  arena_->arena.execute([&] {
    tbb::parallel_for(
        0, count, 1,
        [&](int i) {
          static_cast<void>(handoff_.load(std::memory_order_acquire));
          call(context, i);
          handoff_.fetch_add(1, std::memory_order_acq_rel);
        },
        tbb::simple_partitioner());
  });
  static_cast<void>(handoff_.load(std::memory_order_acquire));
}

}  // namespace saccade
