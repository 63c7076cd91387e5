#include "experiments/verbs/verb.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/join_ranks.h"
#include "base/printable.h"
#include "base/stop.h"

namespace saccade {

std::vector<Command> verbs() {
  return {run_verb(),        eval_verb(),   compare_verb(), record_verb(), saliency_verb(),
          gradients_verb(),  export_verb(), presets_verb(), config_verb(), settings_verb(),
          metrics_verb(),    data_verb(),   bench_verb(),   status_verb(), slurm_verb(),
          completion_verb(), manual_verb()};
}

void say(const std::string& text) { fmt::print("{}", printable(text)); }

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

void require_one_rank(const std::string& verb) {
  const Launch started = launch();
  if (started.count == 1) return;
  throw InputError(fmt::format(
      "saccade {} was started as {} ranks, each of which would do all of it; allowed: 1 "
      "rank (without mpirun), but for saccade run",
      verb, started.count));
}

}  // namespace saccade
