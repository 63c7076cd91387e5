#include "nn/parallel.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>

namespace saccade {
namespace {

int all_if_none(int threads) { return threads > 0 ? threads : tbb::info::default_concurrency(); }

}  // namespace

SharedThreads::SharedThreads(int threads) : threads_(all_if_none(threads)) {}

void SharedThreads::join(std::atomic<int>& part) {
  const std::lock_guard guard(mutex_);
  parts_.push_back(&part);
  divide();
}

void SharedThreads::leave(std::atomic<int>& part) {
  const std::lock_guard guard(mutex_);
  std::erase(parts_, &part);
  divide();
}

void SharedThreads::divide() {
  const int count = static_cast<int>(parts_.size());
  for (int i = 0; i < count; ++i)
    parts_[i]->store(std::max(1, threads_ / count + (i < threads_ % count ? 1 : 0)));
}

// The arena limits its own threads. global_control applies to the whole process, where the smallest
// live limit wins, so it is created only if more threads are wanted than TBB starts by default.
struct Workers::Arena {
  explicit Arena(int threads_) : threads(threads_), arena(threads) {
    if (threads > tbb::info::default_concurrency())
      allowed.emplace(tbb::global_control::max_allowed_parallelism,
                      static_cast<std::size_t>(threads));
  }
  const int threads;
  std::optional<tbb::global_control> allowed;
  tbb::task_arena arena;
};

Workers::Workers(int threads)
    : part_(all_if_none(threads)), arena_(std::make_unique<Arena>(part_)) {}

Workers::Workers(SharedThreads& shared) : shared_(&shared), part_(1) { shared.join(part_); }

Workers::~Workers() {
  if (shared_ != nullptr) shared_->leave(part_);
}

void Workers::run(int count, const void* context, Call call) {
  const int threads = part_;
  if (!arena_ || arena_->threads != threads) arena_ = std::make_unique<Arena>(threads);
  const auto item = [&](int i) { call(handoff_, context, i); };
  arena_->arena.execute([&] { tbb::parallel_for(0, count, 1, item, tbb::simple_partitioner()); });
}

}  // namespace saccade
