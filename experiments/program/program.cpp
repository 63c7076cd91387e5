#include "experiments/program/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "base/join_ranks.h"
#include "base/printable.h"
#include "base/system_reason.h"
#include "experiments/commands/command_line.h"

namespace saccade {
namespace {

enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2, kInterrupted = 130 };

std::atomic<bool> stop_requested{false};

// Redirects a closed standard stream to /dev/null: otherwise the first file to be opened,
// metrics.csv, would get its number and everything that is printed.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) != stream) std::_Exit(kFailed);
}

// SIGINT, SIGTERM, SIGHUP (the terminal is gone; unless ignored, as under nohup) and SIGUSR1 are
// blocked in every thread and awaited in a dedicated one: a handler, however small, that ran on a
// thread inside one of oneDNN's matrix products was seen to corrupt the heap. The first signal
// requests a clean stop; a second one ends the program at once, except SIGUSR1, by which schedulers
// announce a SIGTERM. SIGPIPE is raised in the thread that writes to a closed pipe: it requests a
// stop as SIGUSR1 does.
const std::atomic<bool>& await_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR1);
  if (std::signal(SIGHUP, SIG_DFL) == SIG_IGN)
    std::signal(SIGHUP, SIG_IGN);
  else
    sigaddset(&signals, SIGHUP);
  std::signal(SIGPIPE, [](int) { kill(getpid(), SIGUSR1); });
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // inherited by later threads
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

// An error without a message is reported by another rank.
void report(const std::exception& error) {
  if (*error.what() == '\0') return;
  const std::string line = fmt::format("saccade: {}\n", printable(abridged_message(error.what())));
  std::fputs(line.c_str(), stderr);  // standard error may be closed
}

void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("standard output: cannot be written: " + system_reason());
}

Ending call_command(const Command& command, const Call& call) {
  try {
    return command.call(call);
  } catch (const std::filesystem::filesystem_error& error) {
    throw_refused(error);
  }
}

}  // namespace

int run_program(int argc, const char* const* argv, const std::function<void()>& register_kinds) {
  open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);              // reported like a full disk instead
  setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);  // FFmpeg would write to standard output
  std::unique_ptr<Ranks> ranks;               // destroyed last: its end may end the others
  try {
    if (register_kinds) register_kinds();
    const std::vector<Command> all = commands();
    const Command* command = read_command_line(all, argc, argv);
    if (command == nullptr) {  // --help, --version
      flush_output();
      return kDone;
    }
    if (!command->joins_ranks) require_one_rank(command->name);
    const auto join_ranks = [&]() -> Ranks& {
      ranks = saccade::join_ranks(launch());
      return ranks ? *ranks : alone();
    };
    const Call call{
        .command = typed(argc, argv), .stop_flag = await_stop_signals, .join_ranks = join_ranks};
    const Ending ending = call_command(*command, call);
    if (ending != Ending::done) return kInterrupted;
    flush_output();
    return kDone;
  } catch (const InputError& error) {
    report(error);
    return kBadInput;
  } catch (const std::bad_alloc&) {
    report(std::runtime_error(
        "out of memory: the system refused more; smaller agents, batches (training.batch_size) and "
        "canvases need less, and so do fewer threads (--threads) and jobs (--jobs)"));
    return kFailed;
  } catch (const std::exception& error) {
    report(error);
    return kFailed;
  }
}

}  // namespace saccade
