#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "experiments/verbs/command_line.h"
#include "nn/error.h"

namespace {

enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2, kInterrupted = 130 };

std::atomic<bool> stop_requested{false};

// SIGINT and SIGTERM are blocked in every thread and awaited in one of their own: a handler,
// however small, that ran on a thread inside one of oneDNN's matrix products was seen to corrupt
// the heap. The first signal asks for a clean end; a second one ends the program at once.
const std::atomic<bool>& await_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are other threads: they inherit it
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    stop_requested = true;
    sigwait(&signals, &signal);
    std::_Exit(kInterrupted);
  }).detach();
  return stop_requested;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<saccade::Verb> verbs = saccade::verbs();
    const saccade::Verb* verb = saccade::read_command_line(verbs, argc, argv);
    if (verb == nullptr) return kDone;
    const saccade::Call call{.command = saccade::typed(argc, argv),
                             .stop_flag = await_stop_signals};
    return verb->call(call) == saccade::Ending::done ? kDone : kInterrupted;
  } catch (const saccade::InputError& error) {
    fmt::print(stderr, "saccade: {}\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "saccade: {}\n", error.what());
    return kFailed;
  }
}
