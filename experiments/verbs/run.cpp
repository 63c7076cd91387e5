#include "experiments/verbs/run.h"
#include "experiments/verbs/verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <memory>

#include "experiments/config/variants.h"
#include "experiments/evaluation/test_report.h"
#include "experiments/files/output.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/study.h"
#include "experiments/task/task.h"
#include "experiments/training/progress.h"
#include "experiments/training/train.h"
#include "experiments/verbs/compare.h"
#include "nn/clock.h"
#include "nn/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Whether there is nothing left to do. Throws InputError where the folder has a finished run of
// another configuration.
bool is_done(const RunFolder& folder, const Config& config) {
  if (!is_finished(folder)) return false;
  const std::vector<Difference> changed =
      differences(read_config(folder.path() / "config.yaml"), config);
  if (changed.empty()) return true;
  throw InputError(
      fmt::format("{}: has a finished run with another configuration: {}: {} there, {} "
                  "now; another name or --out keeps both",
                  folder.path().string(), changed[0].key, changed[0].first, changed[0].second));
}

// "error 7.68 %  on digit 99.2 %"
std::string outcome(const RunFolder& folder) {
  const FinishedRun run = read_finished_run(folder.path());
  std::string text = fmt::format("error {:>5.2f} %", 100 * run.error);
  if (run.on_target) text += fmt::format("  on digit {:>4.1f} %", 100 * *run.on_target);
  return text;
}

// "soft_grid, seed 2" for each run
std::vector<std::string> labels_of(const Study& study) {
  std::vector<const Config*> configs;
  for (const StudyRun& run : study.runs) configs.push_back(&run.config);
  std::vector<std::string> labels = variant_labels(configs);
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] += fmt::format("{}seed {}", labels[i].empty() ? "" : ", ", configs[i]->seed);
  return labels;
}

// Leaves the order of the runs for those who compare them later.
void write_study_file(const fs::path& folder, const Study& study) {
  std::string lines;
  for (const StudyRun& run : study.runs) lines += run.folder.string() + "\n";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(
        fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
  try {
    write_text(folder / kStudyFile, lines);
  } catch (const std::runtime_error& failure) {
    throw InputError(failure.what());
  }
}

}  // namespace

fs::path folder_of(const Study& study, const RunOptions& options) {
  return options.out.empty() ? fs::path("runs") / study.name : options.out;
}

bool run_study(const Study& study, const RunOptions& options, Progress& progress,
               const std::atomic<bool>& stop) {
  const fs::path study_folder = folder_of(study, options);
  write_study_file(study_folder, study);
  const std::vector<std::string> labels = labels_of(study);
  const TrainingRequest request{
      .resume = true, .threads = options.threads, .command = options.command};

  std::vector<fs::path> finished;
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const StudyRun& run = study.runs[i];
    const RunFolder folder(study_folder / run.folder);
    progress.begin_run(labels[i], folder);
    try {
      const bool done = is_done(folder, run.config);
      if (!done && !train(run.config, folder, request, progress, stop)) {
        progress.end_study();
        return false;
      }
      finished.push_back(folder.path());
      progress.end_run(outcome(folder), /*failed=*/false, /*trained=*/!done);
    } catch (const std::exception& error) {
      progress.end_run(fmt::format("failed: {}", error.what()), /*failed=*/true, /*trained=*/false);
    }
    if (stop && i + 1 < study.runs.size()) {  // in the last moment of this one
      progress.end_study();
      return false;
    }
  }
  progress.end_study();
  const std::size_t failed = study.runs.size() - finished.size();
  if (!finished.empty()) {
    // Every variant needs as many tries.
    const std::string tuned_by = fmt::format("{}", fmt::join(study.tuned_by, ","));
    const std::string table = compare({.folders = finished,
                                       .out = study_folder / "comparison",
                                       .tuned_by = failed == 0 ? tuned_by : "",
                                       .force = true,
                                       .command = options.command});
    if (!options.quiet) fmt::print("\n{}", table);
  }
  if (failed > 0)
    throw std::runtime_error(fmt::format("{} of {} runs failed; the same command tries them again",
                                         failed, study.runs.size()));
  return true;
}

namespace {

// ---- How long it will take ----

// Seconds of a whole run, from a moment of it.
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

bool run_on_screen(const Study& study, const RunOptions& options, const std::atomic<bool>& stop) {
  std::vector<std::int64_t> episodes;
  for (const StudyRun& run : study.runs) episodes.push_back(run.config.agent.training.episodes);
  StudyProgress progress(study.name, episodes, options.quiet);
  return run_study(study, options, progress, stop);
}

}  // namespace

bool run(const RunOptions& options, const std::atomic<bool>& stop) {
  if (const auto study = read_study(options.config, options.overrides))
    return run_on_screen(*study, options, stop);
  const Config config = read_config(options.config, options.overrides);
  const RunFolder folder(options.out.empty() ? default_run_folder(config, options.overrides)
                                             : options.out);
  const std::unique_ptr<Progress> progress =
      options.quiet ? std::make_unique<Progress>() : std::make_unique<RunProgress>();
  return train(config, folder,
               {.resume = options.resume, .threads = options.threads, .command = options.command},
               *progress, stop);
}

std::string plan(const RunOptions& options) {
  std::optional<Study> study = read_study(options.config, options.overrides);
  fs::path below;
  if (study) {
    below = folder_of(*study, options);
  } else {
    Config config = read_config(options.config, options.overrides);
    const fs::path folder =
        options.out.empty() ? default_run_folder(config, options.overrides) : options.out;
    study = Study{config.name, {{folder, std::move(config)}}};
  }

  std::map<std::string, double> seconds_of;  // configuration but for the seed -> of a whole run
  std::string text;
  double total = 0.0;
  for (const StudyRun& run : study->runs) {
    const RunFolder folder(below / run.folder);
    if (is_done(folder, run.config)) {
      text += fmt::format("  {:<60} finished\n", folder.path().string());
      continue;
    }
    Config any_seed = run.config;
    any_seed.seed = 0;
    const auto [seconds, is_new] = seconds_of.emplace(to_yaml(any_seed), 0.0);
    if (is_new) seconds->second = estimate_seconds(run.config, options.threads);

    const std::vector<MetricsRow> rows = read_metrics(folder.metrics());
    const double done = rows.empty() ? 0.0 : rows.back().at("episodes");
    const double left =
        seconds->second *
        std::max(0.0, 1.0 - done / static_cast<double>(run.config.agent.training.episodes));
    total += left;
    text +=
        fmt::format("  {:<60} about {}{}\n", folder.path().string(), clock_time(left),
                    folder.exists() ? fmt::format(", to be resumed at {:.0f} episodes", done) : "");
  }
  return fmt::format("{}: {} runs, about {} in all\n{}", study->name, study->runs.size(),
                     clock_time(total), text);
}

namespace {

struct RunLine {
  RunOptions options;
  bool dry_run = false;
};

Ending call_run(RunLine& line, const Call& call) {
  line.options.command = call.command;
  if (line.dry_run) {
    fmt::print("{}", plan(line.options));
    return Ending::done;
  }
  if (run(line.options, call.stop_flag())) return Ending::done;
  fmt::print(stderr, "stopped and saved; go on with: {}{}\n", call.command,
             line.options.resume ? "" : " --resume");
  return Ending::stopped;
}

}  // namespace

Verb run_verb() {
  const auto line = std::make_shared<RunLine>();
  RunOptions& options = line->options;
  return {.name = "run",
          .about = "Train, evaluate and test an experiment or a study",
          .options = {{"config", &options.config, "Experiment (YAML)", Option::kRequired},
                      {"overrides", &options.overrides, "key.path=value, over the file"},
                      {"--out", &options.out,
                       "The folder of the run or study (default: runs/<name>/...)"},
                      {"--resume", &options.resume, "Go on from the last checkpoint, if any"},
                      threads_option(&options.threads),
                      {"--quiet", &options.quiet, "Print nothing but errors"},
                      {"--dry-run", &line->dry_run, "List the runs and how long they will take"}},
          .call = [line](const Call& call) { return call_run(*line, call); }};
}

}  // namespace saccade
