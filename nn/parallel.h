#pragma once

#include <atomic>
#include <memory>
#include <type_traits>

namespace saccade {

/// A fixed number of threads that run independent items side by side. Items are handed to whichever
/// thread is free, so their results must not depend on which thread runs them or when.
class Workers {
 public:
  /// `threads` >= 1; 0 takes every processor this process may use.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return threads_; }

  /// Calls body(i) once for each i in 0 .. count - 1 and returns when all are done. The first
  /// exception that a body throws reaches the caller.
  template <class Body>
  void for_each(int count, Body&& body) {
    using Callable = std::remove_reference_t<Body>;
    run(count, const_cast<std::remove_const_t<Callable>*>(&body),
        [](void* context, int i) { (*static_cast<Callable*>(context))(i); });
  }

 private:
  void run(int count, void* context, void (*call)(void*, int));

  struct Arena;
  std::unique_ptr<Arena> arena_;
  int threads_;
  std::atomic<int> handoff_{0};
};

}  // namespace saccade
