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

void Workers::run(int count, const void* context, Call call) {
  arena_->arena.execute([&] {
    tbb::parallel_for(
        0, count, 1, [&](int i) { call(handoff_, context, i); }, tbb::simple_partitioner());
  });
}

}  // namespace saccade
