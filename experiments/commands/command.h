#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/range.h"
#include "base/ranks.h"
#include "experiments/files/progress_bar.h"
#include "nn/parallel.h"

namespace saccade {

/// A command-line option and where its value is stored.
struct Option {
  enum Need { kOptional, kRequired };

  std::string name;  // "--out"; positional if without dashes
  std::variant<bool*, int*, double*, std::string*, std::optional<int>*,
               std::optional<std::uint64_t>*, std::optional<double>*, std::filesystem::path*,
               std::vector<std::string>*, std::vector<std::filesystem::path>*>
      value;
  std::string about;
  std::variant<Need, Range> bound = kOptional;
};

// Options shared by several commands.

inline const std::string kConfigOption = "config", kOverridesOption = "overrides";

inline Option config_option(std::filesystem::path* config) {
  return {kConfigOption, config, "Experiment: a YAML file or the name of a preset",
          Option::kRequired};
}
inline Option overrides_option(std::vector<std::string>* overrides) {
  return {kOverridesOption, overrides, "key.path=value, over the file"};
}
inline Option run_folder_option(std::filesystem::path* folder) {
  return {"run_dir", folder, "A run folder, or the name of a trained agent", Option::kRequired};
}
inline Option data_option(std::string* data) {
  return {"--data", data, "Digits of another source than it was trained on, such as synthetic"};
}
inline Option threads_option(int* threads) {
  return {"--threads", threads, "Threads to compute with (default: all allowed processors)",
          kThreads};
}
inline Option json_option(bool* json) { return {"--json", json, "Print one JSON document"}; }
inline Option force_option(bool* force) { return {"--force", force, "Overwrite existing files"}; }
inline Option quiet_option(bool* quiet) { return {"--quiet", quiet, "Print nothing but errors"}; }
inline Option strict_option(bool* strict) {
  return {"--strict", strict, "Treat unused settings as errors (default: warn)"};
}

/// Context of a command invocation.
struct Call {
  std::string command;  // as typed
  /// From the first call on, SIGINT, SIGTERM and SIGUSR1 set this flag instead of ending the
  /// program. Call before any other threads exist.
  std::function<const std::atomic<bool>&()> stop_flag;
  /// Returns the group of ranks this process belongs to. Call after stop_flag, before any other
  /// threads exist.
  std::function<Ranks&()> join_ranks;
};

/// How a command ended.
enum class Ending { done, stopped };

/// A command of `saccade`. A command prints its own output.
struct Command {
  std::string name;
  std::string group;  // in the help
  std::string about;
  std::vector<Option> options;  // kept alive by `call`
  std::function<Ending(const Call&)> call;
  bool joins_ranks = false;           // otherwise several ranks are refused
  std::vector<std::string> examples;  // for the help, as typed
};

/// Ends the help of folders that may have settings of scenes among them.
inline constexpr const char* kOtherScenes =
    "; and scene.key=value: other scenes than they were trained on";

/// Takes the words out of `folders` that are settings: with a dot before a `=`, and no such folder.
std::vector<std::string> take_overrides(std::vector<std::filesystem::path>& folders);

/// Prints to standard output, passed through printable(). The end of the program reports a fault.
void say(const std::string& text);
void say_as_it_is(const std::string& text);

/// Returns the paths, one per line.
std::string to_lines(const std::vector<std::filesystem::path>& paths);

/// Runs work(on_progress) while showing its progress, and prints what it returns. If a signal
/// stopped it (base/stop.h), says that nothing was written instead.
Ending say_unless_stopped(const Call& call, const std::string& what,
                          const std::function<std::string(const ProgressCallback&)>& work);

/// Throws InputError if this process is one of several ranks, which would all do the same work.
void require_one_rank(const std::string& command);

/// All commands, in help order. A new one is a file and a line in this table.
std::vector<Command> commands();

Command run_command();
Command eval_command();
Command record_command();
Command compare_command();
Command bench_command();
Command data_command();
Command gradients_command();
Command saliency_command();
Command export_command();
Command slurm_command();
Command status_command();
Command watch_command();
Command settings_command();
Command config_command();
Command presets_command();
Command metrics_command();
Command completion_command();
Command manual_command();

}  // namespace saccade
