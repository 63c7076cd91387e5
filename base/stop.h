#pragma once

#include <atomic>

namespace saccade {

/// Thrown by work that was asked to stop and leaves nothing behind. Not a std::exception, so that
/// no handler takes it for an error.
struct Stopped {};

/// While a scope is alive, stop_if_asked() checks `stop` on this thread and in the loops of Workers
/// that it runs. Null disables the check, as if there were no scope.
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

/// Throws Stopped if the flag of this thread's scope is set. Loops that may take longer than a
/// second without using Workers must call it.
void stop_if_asked();

/// Runs body() and returns whether it finished before `stop` interrupted it.
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
