#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/stop.h"

namespace saccade {

/// Threads that several Workers divide evenly, at least one each: the fewer of them there are, the
/// more each has.
class SharedThreads {
 public:
  /// `threads` >= 1; 0 takes every processor this process may use.
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
  std::vector<std::atomic<int>*> parts_;  // of each Workers, as they came
};

/// A fixed number of threads that run independent items side by side. Items are handed to whichever
/// thread is free, so their results must not depend on which thread runs them or when.
class Workers {
 public:
  /// `threads` >= 1; 0 takes every processor this process may use.
  explicit Workers(int threads);
  /// With a part of `shared`, which outlives it, and from loop to loop may have another.
  explicit Workers(SharedThreads& shared);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return part_; }

  /// Calls body(i) once for each i in 0 .. count - 1 and returns when all are done. The first
  /// exception that a body throws reaches the caller. Where the caller is asked to stop (see
  /// stop.h), no further item begins and Stopped is thrown.
  template <class Body>
  void for_each(int count, const Body& body) {
    const auto item = [&body, stop = StopScope::current()](int i) {
      const StopScope scope(stop);  // of the thread that happens to run it
      stop_if_asked();
      body(i);
    };
    handoff_.store(0, std::memory_order_release);
    const TakeBack take_back{handoff_};  // also where an exception leaves
    run(count, &item, [](std::atomic<int>& handoff, const void* context, int i) {
      static_cast<void>(handoff.load(std::memory_order_acquire));
      const HandBack hand_back{handoff};
      (*static_cast<decltype(&item)>(context))(i);
    });
  }

 private:
  using Call = void (*)(std::atomic<int>& handoff, const void* context, int i);
  void run(int count, const void* context, Call call);

  // The order that TBB itself guarantees, said once more where the thread sanitizer sees it: TBB's
  // own synchronisation is in a library that is not instrumented.
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
