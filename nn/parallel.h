#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/range.h"
#include "base/stop.h"

namespace saccade {

/// How many threads a user may ask for.
inline constexpr Range kThreads{1, 1024};

/// A thread budget that several Workers share evenly, at least one thread each. Each gets more as
/// others are destroyed.
class SharedThreads {
 public:
  /// `threads` >= 1; 0 uses every processor available to this process.
  explicit SharedThreads(int threads);
  SharedThreads(const SharedThreads&) = delete;
  SharedThreads& operator=(const SharedThreads&) = delete;

  int threads() const { return threads_; }

 private:
  friend class Workers;
  void join(std::atomic<int>& part);
  void leave(std::atomic<int>& part);
  void divide();

  const int threads_;
  std::mutex mutex_;
  std::vector<std::atomic<int>*> parts_;  // thread count of each Workers, in order of creation
};

/// A fixed number of threads that run independent items in parallel. Any free thread may take the
/// next item, so results must not depend on which thread runs an item or when.
class Workers {
 public:
  /// `threads` >= 1; 0 uses every processor available to this process.
  explicit Workers(int threads);
  /// Uses a part of `shared`, which must outlive it. The part may change between loops.
  explicit Workers(SharedThreads& shared);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return part_; }

  /// Calls body(i) once for each i in 0 .. count - 1 and returns when all are done. Rethrows the
  /// first exception of a body. If the caller is asked to stop (see stop.h), starts no further item
  /// and throws Stopped.
  template <class Body>
  void for_each(int count, const Body& body) {
    const auto item = [&body, stop = StopScope::current()](int i) {
      const StopScope scope(stop);  // of the thread that runs the item
      stop_if_asked();
      body(i);
    };
    handoff_.store(0, std::memory_order_release);
    const TakeBack take_back{handoff_};  // also when an exception is thrown
    run(count, &item, [](std::atomic<int>& handoff, const void* context, int i) {
      static_cast<void>(handoff.load(std::memory_order_acquire));
      const HandBack hand_back{handoff};
      (*static_cast<decltype(&item)>(context))(i);
    });
  }

 private:
  using Call = void (*)(std::atomic<int>& handoff, const void* context, int i);
  void run(int count, const void* context, Call call);

  // Repeats the ordering that TBB already guarantees, in a form that the thread sanitizer can see:
  // TBB itself is not instrumented.
  struct HandBack {
    std::atomic<int>& handoff;
    ~HandBack() { handoff.fetch_add(1, std::memory_order_acq_rel); }
  };
  struct TakeBack {
    std::atomic<int>& handoff;
    ~TakeBack() { static_cast<void>(handoff.load(std::memory_order_acquire)); }
  };

  struct Arena;
  SharedThreads* shared_ = nullptr;
  std::atomic<int> part_;
  std::unique_ptr<Arena> arena_;
  std::atomic<int> handoff_{0};
};

}  // namespace saccade
