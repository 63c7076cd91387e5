#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "experiments/verbs/command_line.h"
#include "nn/error.h"
#include "nn/join_ranks.h"
#include "nn/printable.h"
#include "nn/system_reason.h"

namespace {

enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2, kInterrupted = 130 };

std::atomic<bool> stop_requested{false};

// SIGINT, SIGTERM and SIGUSR1 are blocked in every thread and awaited in one of their own: a
// handler, however small, that ran on a thread inside one of oneDNN's matrix products was seen to
// corrupt the heap. The first signal asks for a clean end; a second one ends the program at once,
// but for SIGUSR1, by which schedulers give notice of a SIGTERM to come.
const std::atomic<bool>& await_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are other threads: they inherit it
  std::thread([signals] {
    for (int requests = 0; requests < 2;) {
      int signal = 0;
      sigwait(&signals, &signal);
      stop_requested = true;
      requests += signal != SIGUSR1;
    }
    std::_Exit(kInterrupted);
  }).detach();
  return stop_requested;
}

// An error without a message is told by another rank.
void tell(const std::exception& error) {
  if (*error.what() != '\0') fmt::print(stderr, "saccade: {}\n", saccade::printable(error.what()));
}

saccade::Ending call_verb(const saccade::Verb& verb, const saccade::Call& call) {
  try {
    return verb.call(call);
  } catch (const std::filesystem::filesystem_error& error) {
    saccade::throw_refused(error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);          // a file that may not grow is told as a full disk is
  std::unique_ptr<saccade::Ranks> ranks;  // left last: who ends first may end the others
  try {
    const std::vector<saccade::Verb> verbs = saccade::verbs();
    const saccade::Verb* verb = saccade::read_command_line(verbs, argc, argv);
    if (verb == nullptr) return kDone;
    if (!verb->joins_ranks) saccade::require_one_rank(verb->name);
    const auto join_ranks = [&]() -> saccade::Ranks& {
      ranks = saccade::join_ranks(saccade::launch());
      return ranks ? *ranks : saccade::alone();
    };
    const saccade::Call call{.command = saccade::typed(argc, argv),
                             .stop_flag = await_stop_signals,
                             .join_ranks = join_ranks};
    const saccade::Ending ending = call_verb(*verb, call);
    std::fflush(stdout);
    return ending == saccade::Ending::done ? kDone : kInterrupted;
  } catch (const saccade::InputError& error) {
    tell(error);
    return kBadInput;
  } catch (const std::bad_alloc&) {
    tell(std::runtime_error(
        "out of memory: the system refused more; smaller agents, batches (training.batch_size) and "
        "canvases need less, and so do fewer threads (--threads) and jobs (--jobs)"));
    return kFailed;
  } catch (const std::exception& error) {
    tell(error);
    return kFailed;
  }
}
