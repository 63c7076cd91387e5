#include "python/bindings/calls.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/stop.h"

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

namespace {

// A computation on its own thread, and the calling thread, which waits for it.
class Computation {
 public:
  using Body = std::function<void(std::atomic<bool>& stop, const OnCaller& on_caller)>;

  // Called on the calling thread, holding the interpreter, which is released except during `work`.
  void run(const Body& body) {
    std::thread thread;
    {
      const SignalsBlocked blocked;  // the thread inherits it
      thread = std::thread([&] { compute(body); });
    }
    {
      const nb::gil_scoped_release released;
      wait();
      thread.join();
    }
    if (failed_) std::rethrow_exception(failed_);
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  void compute(const Body& body) {
    try {
      body(stop_, [this](const std::function<void()>& work) { ask(work); });
    } catch (...) {
      failed_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  // Called by any thread of the computation, one at a time.
  void ask(const std::function<void()>& work) {
    const std::lock_guard now(asking_);
    std::unique_lock lock(mutex_);
    asked_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return asked_ == nullptr; });
  }

  void wait() {
    constexpr std::chrono::milliseconds kPatience{20};  // between checks for signals
    std::unique_lock lock(mutex_);
    while (!done_) {
      changed_.wait_for(lock, kPatience, [this] { return done_ || asked_ != nullptr; });
      const std::function<void()>* work = asked_;
      lock.unlock();
      with_interpreter(work);
      lock.lock();
      if (work == nullptr) continue;
      asked_ = nullptr;
      changed_.notify_all();
    }
  }

  void with_interpreter(const std::function<void()>* work) {
    const nb::gil_scoped_acquire acquired;
    try {
      if (work != nullptr && !raised_) (*work)();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (...) {
      stop_ = true;
      if (!raised_) raised_ = std::current_exception();
    }
  }

  std::atomic<bool> stop_{false};
  std::mutex asking_, mutex_;
  std::condition_variable changed_;
  const std::function<void()>* asked_ = nullptr;
  bool done_ = false;
  std::exception_ptr failed_;  // thrown by body
  std::exception_ptr raised_;  // thrown by a signal handler or by work on the calling thread
};

}  // namespace

void compute_until_stopped(const std::function<void()>& body) {
  Computation().run([&](std::atomic<bool>& stop, const OnCaller&) { unless_stopped(stop, body); });
}

void compute_until_stopped(
    const std::function<void(std::atomic<bool>& stop, const OnCaller& on_caller)>& body) {
  Computation().run(body);
}

}  // namespace saccade::python
