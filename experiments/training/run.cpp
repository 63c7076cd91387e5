#include "experiments/training/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "experiments/evaluation/evaluator.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/study.h"
#include "experiments/task/task.h"
#include "experiments/training/finished.h"
#include "experiments/training/progress.h"
#include "experiments/training/run_study.h"
#include "experiments/training/run_work.h"
#include "experiments/training/study_training.h"
#include "experiments/training/train.h"
#include "experiments/training/training.h"
#include "experiments/training/warn_unused.h"

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
  if (!config.init_from.empty()) copy_initial(config.init_from, learner);
  learner.step();  // warm-up
  const double loading = seconds_since(begin);

  const Clock::time_point train_begin = Clock::now();
  double episodes = 0.0;
  while (seconds_since(train_begin) < kMoment) episodes += learner.step().sums.episodes;
  const double training = seconds_since(train_begin) / episodes;

  const Clock::time_point evaluation_begin = Clock::now();
  evaluator.run(flat(learner.parameters), {});
  const double evaluation = seconds_since(evaluation_begin) / kScenes;
  const RunWork work = work_of(task);
  return loading + training * static_cast<double>(work.episodes) +
         evaluation * static_cast<double>(work.validated + work.tested);
}

Unused unused(const RunRequest& request, const Ranks& ranks) {
  if (request.strict) return Unused::refuse;
  return request.quiet || !ranks.first() ? Unused::ignore : Unused::warn;
}

}  // namespace

RunEnd run(const RunRequest& request, const std::atomic<bool>& stop, Ranks& ranks) {
  Study study;
  const auto ended = [&](bool done) -> RunEnd {
    return {done, std::ranges::any_of(study.runs, [&](const StudyRun& run) {
              return fs::exists(RunFolder(folder_of(study, run, request.out)).last_checkpoint());
            })};
  };
  ranks.run_on_all([&] {
    study = read_study(request.config, request.overrides);
    if (!study.single && !ranks.alone())
      throw InputError(fmt::format(
          "{}: a study of {} runs, and {} ranks train one run together; allowed: 1 rank, which "
          "trains several runs at once (--jobs), or an experiment without vary and seeds; `saccade "
          "slurm` has a cluster share the runs of a study",
          request.config.string(), study.runs.size(), ranks.count()));
    if (study.single && request.jobs)
      throw InputError(
          fmt::format("--jobs {}: {} is a single run; allowed with a study (vary, seeds); "
                      "--threads divides the work of a run",
                      *request.jobs, request.config.string()));
    warn_of_unused(configs_of(study), unused(request, ranks));
  });
  if (!study.single)
    return ended(run_study_on_screen(study,
                                     {.folder = folder_of(study, request.out),
                                      .jobs = request.jobs.value_or(0),
                                      .threads = request.threads,
                                      .command = request.command,
                                      .strict = request.strict},
                                     request.quiet, stop));
  const StudyRun& single = study.runs.front();
  const RunFolder folder(folder_of(study, single, request.out));
  const std::unique_ptr<Progress> progress = request.quiet || !ranks.first()
                                                 ? std::make_unique<Progress>()
                                                 : std::make_unique<RunProgress>();
  return ended(train(single.config, folder,
                     {.resume = request.resume,
                      .threads = request.threads,
                      .command = request.command,
                      .strict = request.strict},
                     *progress, stop, ranks));
}

Plan plan(const RunRequest& request) {
  const Study study = read_study(request.config, request.overrides);
  warn_of_unused(configs_of(study), unused(request, alone()));

  const fs::path below = study.single ? fs::path() : folder_of(study, request.out);
  Plan plan{study.name, below, {}};
  std::map<std::string, double> seconds_of;  // of a whole run, by configuration without seed
  for (const StudyRun& run : study.runs) {
    const RunFolder folder(folder_of(study, run, request.out));
    const fs::path name = below.empty() ? folder.path() : folder.path().lexically_relative(below);
    PlannedRun& planned = plan.runs.emplace_back(PlannedRun{name.string()});
    if (study.single && !request.resume) folder.require_new();
    Config any_seed = run.config;
    any_seed.seed = 0;
    const std::string key = to_yaml(any_seed);
    try {
      planned.finished = is_done(folder, run.config);
      if (planned.finished) continue;
      if (!seconds_of.contains(key))
        seconds_of[key] = estimate_seconds(run.config, request.threads);
    } catch (const InputError& error) {
      if (study.single) throw;
      planned.fault = error.what();
      continue;
    }
    const std::vector<MetricsRow> rows = read_metrics(folder.metrics());
    const double done = rows.empty() || !folder.exists() || !rows.back().contains("episodes")
                            ? 0.0
                            : rows.back().at("episodes");
    if (folder.exists()) planned.resumed_at_episode = done;
    planned.seconds_left =
        seconds_of[key] *
        std::max(0.0, 1.0 - done / static_cast<double>(run.config.agent.training.episodes));
  }
  return plan;
}

std::string to_text(const Plan& plan) {
  double total = 0.0;
  std::size_t width = 0;
  for (const PlannedRun& run : plan.runs) {
    total += run.seconds_left;
    width = std::max(width, run.name.size());
  }
  std::string text = fmt::format("{}: {} {}, about {} in all{}\n", plan.name, plan.runs.size(),
                                 plan.runs.size() == 1 ? "run" : "runs", clock_time(total),
                                 plan.folder.empty() ? "" : ", into " + plan.folder.string());
  for (const PlannedRun& run : plan.runs) {
    std::string state = run.finished ? "finished" : "about " + clock_time(run.seconds_left);
    if (!run.fault.empty()) state = "fails: " + run.fault;
    if (run.resumed_at_episode)
      state += fmt::format(", to be resumed at {:.0f} episodes", *run.resumed_at_episode);
    text += fmt::format("  {:<{}}  {}\n", run.name, width, state);
  }
  return text;
}

}  // namespace saccade
