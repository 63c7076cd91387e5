#include "experiments/commands/run.h"
#include "experiments/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/printable.h"
#include "experiments/commands/run_study.h"
#include "experiments/commands/warn_unused.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/study.h"
#include "experiments/task/task.h"
#include "experiments/training/finished.h"
#include "experiments/training/progress.h"
#include "experiments/training/study_training.h"
#include "experiments/training/train.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// ---- Estimated duration ----

// Estimates the seconds of a whole run from a short measurement.
double estimate_seconds(const Config& config, int threads) {
  constexpr double kMoment = 0.8;
  constexpr int kScenes = 200;
  const Clock::time_point begin = Clock::now();
  Workers workers(threads);
  const Task task(config);
  Learner learner(task.model, task.environments(Split::train), config.seed, workers);
  Evaluator evaluator(task.model, task.environments(Split::valid), kScenes, config.evaluation.seed,
                      workers);
  learner.step();  // warm-up
  const double loading = seconds_since(begin);

  const Clock::time_point train_begin = Clock::now();
  double episodes = 0.0;
  while (seconds_since(train_begin) < kMoment) episodes += learner.step().sums.episodes;
  const double training =
      seconds_since(train_begin) / episodes * static_cast<double>(config.agent.training.episodes);

  const Clock::time_point evaluation_begin = Clock::now();
  evaluator.run(flat(learner.parameters), {});
  const double pass = seconds_since(evaluation_begin) / kScenes * config.evaluation.scenes;
  const double validations = std::ceil(static_cast<double>(config.agent.training.episodes) /
                                       static_cast<double>(config.evaluation.every));
  return loading + training + pass * (validations + test_passes(task.model, config.evaluation));
}

Unused unused(const RunOptions& options, const Ranks& ranks) {
  if (options.strict) return Unused::refused;
  return options.quiet || !ranks.first() ? Unused::passed_over : Unused::on_progress;
}

}  // namespace

bool run(const RunOptions& options, const std::atomic<bool>& stop, Ranks& ranks) {
  std::optional<Study> study;
  Config config;
  ranks.run_on_all([&] {
    study = read_study(options.config, options.overrides);
    if (study && !ranks.alone())
      throw InputError(fmt::format(
          "{}: a study of {} runs, and {} ranks train one run together; allowed: 1 rank, which "
          "trains several runs at once (--jobs), or an experiment without vary and seeds; `saccade "
          "slurm` has a cluster share the runs of a study",
          options.config.string(), study->runs.size(), ranks.count()));
    if (study) return warn_of_unused(configs_of(*study), unused(options, ranks));
    if (options.jobs)
      throw InputError(
          fmt::format("--jobs {}: {} is a single run; allowed with a study (vary, seeds); "
                      "--threads divides the work of a run",
                      *options.jobs, options.config.string()));
    config = read_config(options.config, options.overrides);
    warn_of_unused(std::vector<const Config*>{&config}, unused(options, ranks));
  });
  if (study) return run_study_on_screen(*study, options, stop);
  const RunFolder folder(options.out.empty() ? default_run_folder(config, options.overrides)
                                             : options.out);
  const std::unique_ptr<Progress> progress = options.quiet || !ranks.first()
                                                 ? std::make_unique<Progress>()
                                                 : std::make_unique<RunProgress>();
  return train(config, folder,
               {.resume = options.resume,
                .threads = options.threads,
                .command = options.command,
                .strict = options.strict},
               *progress, stop, ranks);
}

std::string plan(const RunOptions& options) {
  std::optional<Study> study = read_study(options.config, options.overrides);
  fs::path below;
  if (study) {
    below = folder_of(*study, options.out);
  } else {
    Config config = read_config(options.config, options.overrides);
    const fs::path folder =
        options.out.empty() ? default_run_folder(config, options.overrides) : options.out;
    study = Study{config.name, {{folder, std::move(config)}}};
  }
  warn_of_unused(configs_of(*study), unused(options, alone()));

  std::map<std::string, double> seconds_of;  // of a whole run, by configuration without seed
  std::vector<std::pair<std::string, std::string>> lines;  // a run and its remaining time
  double total = 0.0;
  for (const StudyRun& run : study->runs) {
    const RunFolder folder(run.folder_in(below));
    const fs::path name = below.empty() ? folder.path() : folder.path().lexically_relative(below);
    lines.emplace_back(name.string(), "finished");
    if (is_done(folder, run.config)) continue;
    Config any_seed = run.config;
    any_seed.seed = 0;
    const auto [seconds, is_new] = seconds_of.emplace(to_yaml(any_seed), 0.0);
    if (is_new) seconds->second = estimate_seconds(run.config, options.threads);

    const bool begun = folder.exists();
    const std::vector<MetricsRow> rows = read_metrics(folder.metrics());
    const double done = rows.empty() || !begun ? 0.0 : rows.back().at("episodes");
    const double left =
        seconds->second *
        std::max(0.0, 1.0 - done / static_cast<double>(run.config.agent.training.episodes));
    total += left;
    lines.back().second =
        fmt::format("about {}{}", clock_time(left),
                    begun ? fmt::format(", to be resumed at {:.0f} episodes", done) : "");
  }
  std::size_t width = 0;
  for (const auto& [name, what] : lines) width = std::max(width, name.size());
  std::string text = fmt::format("{}: {} {}, about {} in all{}\n", study->name, lines.size(),
                                 lines.size() == 1 ? "run" : "runs", clock_time(total),
                                 below.empty() ? "" : fmt::format(", into {}", below.string()));
  for (const auto& [name, what] : lines) text += fmt::format("  {:<{}}  {}\n", name, width, what);
  return text;
}

namespace {

struct RunLine {
  RunOptions options;
  bool dry_run = false;
};

Ending call_run(RunLine& line, const Call& call) {
  line.options.command = call.command;
  if (line.dry_run) {
    require_one_rank("run --dry-run");
    say(plan(line.options));
    return Ending::done;
  }
  const std::atomic<bool>& stop = call.stop_flag();
  Ranks& ranks = call.join_ranks();
  const bool done = run(line.options, stop, ranks);
  ranks.announce_end();
  if (done) return Ending::done;
  if (ranks.first())
    std::fputs(fmt::format("stopped and saved; go on with: {}{}\n", printable(call.command),
                           line.options.resume ? "" : " --resume")
                   .c_str(),
               stderr);
  return Ending::stopped;
}

}  // namespace

Command run_command() {
  const auto line = std::make_shared<RunLine>();
  RunOptions& options = line->options;
  return {
      .name = "run",
      .group = "Train and test",
      .about = "Train, evaluate and test an experiment or a study",
      .options = {config_option(&options.config),
                  overrides_option(&options.overrides),
                  {"--out", &options.out,
                   "The folder of the run or study (default: runs/<name>/...)"},
                  {"--resume", &options.resume,
                   "Go on from the last checkpoint, if any (there is no --force: a run is never "
                   "written over)"},
                  threads_option(&options.threads),
                  {"--jobs", &options.jobs,
                   "Runs of a study at once, which divide the threads (default: as many as "
                   "there are threads)",
                   Range{1, 1024}},
                  quiet_option(&options.quiet),
                  strict_option(&options.strict),
                  {"--dry-run", &line->dry_run, "List the runs and how long they will take"}},
      .call = [line](const Call& call) { return call_run(*line, call); },
      .joins_ranks = true,
      .examples = {"saccade run quickstart attention.glimpse.kind=hard_gaussian,soft_grid",
                   "saccade run experiments/hard_vs_soft.yaml --jobs 2 --resume"}};
}

}  // namespace saccade
