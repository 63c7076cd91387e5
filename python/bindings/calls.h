#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <csignal>
#include <functional>

namespace saccade::python {

/// While it lives, no signal is handled on this thread nor on those that it begins: a handler that
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

/// Throws std::runtime_error in a process that was forked from one whose worker threads it lacks.
void require_threads();

/// body() while other Python threads run. A signal that comes meanwhile is handled after it.
template <class Body>
auto compute(const Body& body) {
  const nanobind::gil_scoped_release released;
  const SignalsBlocked blocked;
  return body();
}

/// body() on a thread of its own, while this one handles signals: where a handler raises, as that
/// of Ctrl-C does, body is asked to stop (base/stop.h), and that exception leaves once it has. One
/// that body throws comes first.
void compute_until_stopped(const std::function<void()>& body);

/// Does a piece of work on the thread that began the computation, which has the interpreter then,
/// and comes back when it is done. Any thread of the computation may call it.
using OnCaller = std::function<void(const std::function<void()>& work)>;

/// The same for a body that has something to tell meanwhile and reads `stop` itself: what its work
/// on the calling thread throws is as what a handler raises. After that no more work is done.
void compute_until_stopped(
    const std::function<void(std::atomic<bool>& stop, const OnCaller& on_caller)>& body);

}  // namespace saccade::python
