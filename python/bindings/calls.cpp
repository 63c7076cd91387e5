#include "python/bindings/calls.h"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>

namespace saccade::python {

namespace nb = nanobind;

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void require_threads() {
  static const pid_t owner = getpid();
  if (owner != getpid())
    throw std::runtime_error(
        "this process was forked from one whose Saccade threads it does not have; begin processes "
        "with the start method 'spawn' or 'forkserver' (multiprocessing.set_start_method)");
}

void compute_until_stopped(const std::function<void(std::atomic<bool>& stop)>& body) {
  constexpr std::chrono::milliseconds kPatience{20};
  std::atomic<bool> stop{false};
  std::promise<void> done;
  std::thread thread;
  {
    const SignalsBlocked blocked;  // the thread inherits it
    thread = std::thread([&] {
      try {
        body(stop);
        done.set_value();
      } catch (...) {
        done.set_exception(std::current_exception());
      }
    });
  }
  std::future<void> ending = done.get_future();
  std::optional<nb::python_error> raised;
  {
    const nb::gil_scoped_release released;
    while (ending.wait_for(kPatience) != std::future_status::ready) {
      const nb::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() == 0) continue;
      stop = true;
      if (!raised)
        raised.emplace();
      else
        PyErr_Clear();
    }
    thread.join();
  }
  ending.get();
  if (raised) throw *raised;
}

}  // namespace saccade::python
