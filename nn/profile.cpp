#include "nn/profile.h"

#include <array>
#include <deque>
#include <mutex>
#include <stdexcept>

#include "base/clock.h"

namespace saccade {
namespace {

constexpr std::array kStageNames = {"scene",
                                    "look",
                                    "forward products",
                                    "forward elementwise",
                                    "backward products",
                                    "backward elementwise",
                                    "gradient sum",
                                    "optimizer",
                                    "waiting"};
constexpr std::size_t kStages = kStageNames.size();

// Time per stage of one thread since the profiler began. Only that thread writes it.
struct alignas(64) ThreadTimes {
  std::array<double, kStages> seconds{};
  std::array<double, kStages> gflop{};
  Stage stage = Stage::waiting;
  Clock::time_point since;  // time of the last stage change
};

// Entries outlive their threads, so that their times are kept.
struct AllTimes {
  std::mutex mutex;
  std::deque<ThreadTimes> threads;
  Clock::time_point begin;
};

AllTimes& all_times() {
  static AllTimes all;
  return all;
}

ThreadTimes& this_thread() {
  thread_local ThreadTimes& times = [&]() -> ThreadTimes& {
    AllTimes& all = all_times();
    const std::lock_guard lock(all.mutex);
    return all.threads.emplace_back();
  }();
  return times;
}

std::size_t index(Stage stage) { return static_cast<std::size_t>(stage); }

Stage products_of(Stage stage) {
  if (stage == Stage::forward_elementwise) return Stage::forward_products;
  if (stage == Stage::backward_elementwise) return Stage::backward_products;
  return stage;
}

}  // namespace

std::span<const char* const> stage_names() { return kStageNames; }

namespace profile {

std::atomic<bool> enabled{false};

Stage enter(Stage stage) {
  ThreadTimes& times = this_thread();
  const Clock::time_point now = Clock::now();
  const Stage before = times.stage;
  if (before != Stage::waiting)
    times.seconds[index(before)] += std::chrono::duration<double>(now - times.since).count();
  times.stage = stage;
  times.since = now;
  return before;
}

Stage enter_product(double flop) {
  const Stage stage = products_of(this_thread().stage);
  const Stage before = enter(stage);
  this_thread().gflop[index(stage)] += 1e-9 * flop;
  return before;
}

}  // namespace profile

Profiler::Profiler() {
  if (profile::enabled) throw std::logic_error("there is another Profiler");
  AllTimes& all = all_times();
  const std::lock_guard lock(all.mutex);
  for (ThreadTimes& times : all.threads) times = {};
  all.begin = Clock::now();
  profile::enabled = true;
}

Profiler::~Profiler() { profile::enabled = false; }

std::vector<Profiler::Row> Profiler::rows(int threads) const {
  AllTimes& all = all_times();
  const std::lock_guard lock(all.mutex);
  double rest = threads * seconds_since(all.begin);
  std::vector<Row> rows;
  for (std::size_t s = 0; s < kStages; ++s) {
    Row& row = rows.emplace_back(Row{static_cast<Stage>(s), 0.0, 0.0});
    for (const ThreadTimes& times : all.threads) {
      row.seconds += times.seconds[s];
      row.gflop += times.gflop[s];
    }
    rest -= row.seconds;
  }
  rows.back().seconds = rest;
  return rows;
}

}  // namespace saccade
