#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/experiments/support.h"

namespace saccade {

using CommandWords = Names;

/// A program in its own process. Its standard output is the smallest possible pipe, so that it
/// cannot run far ahead of its reader.
class Program {
 public:
  struct Result {
    int code = -1;    // 1000 + the signal that killed it, if any
    std::string out;  // output not taken by read_line()
    std::string err;
  };

  /// Starts `words` in `folder`.
  Program(const fs::path& folder, CommandWords words) {
    int out[2];
    REQUIRE(pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(fcntl(out[1], F_SETPIPE_SZ, 4096) == 4096);
    const int err = open(err_file().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(err >= 0);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      if (chdir(folder.c_str()) == 0) execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(out[1]);
    close(err);
    out_ = out[0];
  }
  ~Program() {
    close(out_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Returns the next line of standard output, or the rest of it.
  std::string read_line() {
    std::string line;
    char letter = 0;
    while (read(out_, &letter, 1) == 1 && letter != '\n') line += letter;
    return line;
  }

  void send(int signal) const { kill(pid_, signal); }

  /// Closes the reading end of standard output.
  void stop_reading() { close(std::exchange(out_, -1)); }

  /// Reads all remaining output and waits for the program to end.
  Result finish() {
    Result result;
    char block[4096];
    for (ssize_t count = 0; (count = read(out_, block, sizeof block)) > 0;)
      result.out.append(block, static_cast<std::size_t>(count));
    int status = 0;
    REQUIRE(waitpid(pid_, &status, 0) == pid_);
    pid_ = 0;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    result.err = bytes_of(err_file());
    return result;
  }

 private:
  fs::path err_file() const { return folder_.path / "stderr"; }

  TemporaryFolder folder_;
  pid_t pid_ = 0;
  int out_ = -1;
};

// ---- The program under test ----

std::string saccade_binary();

inline CommandWords saccade_words(CommandWords arguments) {
  arguments.insert(arguments.begin(), saccade_binary());
  return arguments;
}

inline Program::Result run_saccade(const fs::path& folder, const CommandWords& arguments) {
  return Program(folder, saccade_words(arguments)).finish();
}

inline void check_done(const Program::Result& result) {
  CHECK(result.code == 0);
  CHECK(result.err == "");
}

// Checks that standard error has exactly one message, which begins with `message`.
inline void check_refused(const Program::Result& result, const std::string& message) {
  INFO("standard error: " << result.err);
  INFO("expected: " << message);
  CHECK(result.code == 2);
  CHECK(result.out == "");
  CHECK(result.err.starts_with("saccade: " + message));
  CHECK(result.err.find('\n') == result.err.size() - 1);
}

}  // namespace saccade
