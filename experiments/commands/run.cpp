#include "experiments/training/run.h"

#include <fmt/format.h>

#include <memory>

#include "base/printable.h"
#include "experiments/commands/command.h"
#include "experiments/training/study_training.h"

namespace saccade {
namespace {

struct RunLine {
  RunRequest request;
  bool dry_run = false;
};

Ending call_run(RunLine& line, const Call& call) {
  line.request.command = call.command;
  if (line.dry_run) {
    require_one_rank("run --dry-run");
    say(to_text(plan(line.request)));
    return Ending::done;
  }
  const std::atomic<bool>& stop = call.stop_flag();
  Ranks& ranks = call.join_ranks();
  const RunEnd end = run(line.request, stop, ranks);
  ranks.announce_end();
  if (end.done) return Ending::done;
  if (ranks.first())
    std::fputs(
        (end.saved ? fmt::format("stopped and saved; continue with: {}{}\n",
                                 printable(call.command), line.request.resume ? "" : " --resume")
                   : std::string("stopped; nothing was saved\n"))
            .c_str(),
        stderr);
  return Ending::stopped;
}

}  // namespace

Command run_command() {
  const auto line = std::make_shared<RunLine>();
  RunRequest& request = line->request;
  return {.name = "run",
          .group = "Train and test",
          .about = "Train, evaluate and test an experiment or a study",
          .options =
              {config_option(&request.config),
               overrides_option(&request.overrides),
               {"--out", &request.out, "The folder of the run or study (default: runs/<name>/...)"},
               {"--resume", &request.resume,
                "Continue from the last checkpoint, if there is one (a run is never overwritten)"},
               threads_option(&request.threads),
               {"--jobs", &request.jobs,
                "Runs of a study that train at once and share the threads (default: one a "
                "thread, as memory allows)",
                StudyRequest::kJobs},
               quiet_option(&request.quiet),
               strict_option(&request.strict),
               {"--dry-run", &line->dry_run, "List the runs and how long they will take"}},
          .call = [line](const Call& call) { return call_run(*line, call); },
          .joins_ranks = true,
          .examples = {"saccade run quickstart attention.glimpse.kind=hard_gaussian,soft_grid",
                       "saccade run experiments/hard_vs_soft.yaml --jobs 2 --resume"}};
}

}  // namespace saccade
