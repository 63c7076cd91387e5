#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <utility>

namespace saccade::python {

/// While it exists, no signal is handled on this thread or on threads started by it: a handler that
/// ran on a thread inside one of oneDNN's products was seen to corrupt the heap.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// Throws std::runtime_error in a forked process, which lacks the worker threads of its parent.
void require_threads();

/// Runs body() while other Python threads run. Signals that arrive meanwhile are handled
/// afterwards.
template <class Body>
auto compute(const Body& body) {
  const nanobind::gil_scoped_release released;
  const SignalsBlocked blocked;
  return body();
}

/// Runs body() on its own thread while this one handles signals. If a handler raises, as that of
/// Ctrl-C does, body is asked to stop (base/stop.h), and the exception propagates once it has
/// stopped. An exception from body takes precedence.
void compute_until_stopped(const std::function<void()>& body);

/// Returns work(), computed so. Throws as require_threads().
template <class Work>
auto computed(const Work& work) {
  require_threads();
  std::optional<decltype(work())> result;
  compute_until_stopped([&] { result = work(); });
  return *std::move(result);
}

/// Runs a piece of work on the calling thread, holding the interpreter, and returns when it is
/// done. May be called by any thread of the computation.
using OnCaller = std::function<void(const std::function<void()>& work)>;

/// The same for a body that reports progress and reads `stop` itself: an exception from its work on
/// the calling thread is treated like one from a signal handler. No further work is run after that.
void compute_until_stopped(
    const std::function<void(std::atomic<bool>& stop, const OnCaller& on_caller)>& body);

}  // namespace saccade::python
