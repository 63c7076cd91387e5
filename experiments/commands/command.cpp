#include "experiments/commands/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "base/error.h"
#include "base/join_ranks.h"
#include "base/printable.h"
#include "base/stop.h"

namespace saccade {

std::vector<Command> commands() {
  return {run_command(),        eval_command(),      compare_command(), record_command(),
          saliency_command(),   gradients_command(), export_command(),  presets_command(),
          config_command(),     settings_command(),  metrics_command(), data_command(),
          bench_command(),      status_command(),    watch_command(),   slurm_command(),
          completion_command(), manual_command()};
}

void say_as_it_is(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void say(const std::string& text) { say_as_it_is(printable(text)); }

std::string to_lines(const std::vector<std::filesystem::path>& paths) {
  std::string text;
  for (const std::filesystem::path& path : paths) text += path.string() + "\n";
  return text;
}

std::vector<std::string> take_overrides(std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> overrides;
  std::erase_if(folders, [&](const std::filesystem::path& path) {
    const std::string word = path.string();
    const std::size_t dot = word.find('.'), equals = word.find('=');
    const bool assigns = equals != std::string::npos && dot < equals;
    if (!assigns || std::filesystem::exists(path)) return false;
    overrides.push_back(word);
    return true;
  });
  if (folders.empty())
    throw InputError(fmt::format("{}: settings without a run folder; --help says more",
                                 fmt::join(overrides, " ")));
  return overrides;
}

Ending say_unless_stopped(const Call& call, const std::string& what,
                          const std::function<std::string(const ProgressCallback&)>& work) {
  std::string text;
  if (!unless_stopped(call.stop_flag(), [&] { text = with_progress(what, work); })) {
    fmt::print(stderr, "stopped; nothing was written\n");
    return Ending::stopped;
  }
  say(text);
  return Ending::done;
}

void require_one_rank(const std::string& command) {
  const Launch started = launch();
  if (started.count == 1) return;
  throw InputError(fmt::format(
      "saccade {} was started as {} ranks, each of which would do all of it; allowed: 1 "
      "rank (without mpirun), but for saccade run",
      command, started.count));
}

}  // namespace saccade
