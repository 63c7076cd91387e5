#pragma once

#include <atomic>

namespace saccade {

/// Thrown by what was asked to stop, which leaves nothing behind. Not a std::exception: nobody
/// takes it for an error.
struct Stopped {};

/// While it lives, stop_if_asked() asks `stop` on this thread and in the loops of Workers that it
/// runs; null: nothing is asked, as where there is no scope.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  /// The flag of the innermost scope of this thread, or null.
  static const std::atomic<bool>* current();

 private:
  const std::atomic<bool>* const outer_;
};

/// Throws Stopped where the flag of this thread's scope is true. Loops that may take longer than a
/// second without one of Workers call it.
void stop_if_asked();

/// Whether body() came to its end before `stop` was heard.
template <class Body>
bool unless_stopped(const std::atomic<bool>& stop, const Body& body) {
  try {
    const StopScope scope(&stop);
    body();
    return true;
  } catch (const Stopped&) {
    return false;
  }
}

}  // namespace saccade
