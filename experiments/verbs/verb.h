#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nn/ranks.h"

namespace saccade {

/// What a number may be, both ends included.
struct Range {
  int least;
  int most;
};

/// One thing that can be said to a verb, and where it is kept.
struct Option {
  enum Need { kOptional, kRequired };

  std::string name;  // "--out"; without dashes it goes by its place
  std::variant<bool*, int*, double*, std::string*, std::optional<int>*,
               std::optional<std::uint64_t>*, std::filesystem::path*, std::vector<std::string>*,
               std::vector<std::filesystem::path>*>
      value;
  std::string about;
  std::variant<Need, Range> bound = kOptional;
};

/// `--threads` of every verb that computes.
inline Option threads_option(int* threads) {
  return {"--threads", threads, "Default: all allowed processors", Range{1, 1024}};
}

/// How a verb is called.
struct Call {
  std::string command;  // as typed
  /// From the first time that it is asked on, SIGINT, SIGTERM and SIGUSR1 set this flag instead of
  /// ending the program. To be asked before there are other threads.
  std::function<const std::atomic<bool>&()> stop_flag;
  /// The ranks that this process is one of. To be asked after stop_flag, before there are other
  /// threads.
  std::function<Ranks&()> join_ranks;
};

/// How it came to its end.
enum class Ending { done, stopped };

/// What can be typed after `saccade`. A verb prints what it has to say.
struct Verb {
  std::string name;
  std::string about;
  std::vector<Option> options;  // kept alive by `call`
  std::function<Ending(const Call&)> call;
  bool joins_ranks = false;  // else several ranks are refused
};

/// Throws InputError where this process is one of several ranks, which would all do the same work.
void require_one_rank(const std::string& verb);

/// Every verb there is, in the order of the help. A new one is a file and a line in this table.
std::vector<Verb> verbs();

Verb run_verb();
Verb eval_verb();
Verb record_verb();
Verb compare_verb();
Verb bench_verb();
Verb data_verb();
Verb gradients_verb();
Verb saliency_verb();
Verb slurm_verb();
Verb status_verb();

}  // namespace saccade
