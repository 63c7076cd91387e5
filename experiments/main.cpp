#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "experiments/pictures/recording.h"
#include "experiments/verbs/bench.h"
#include "experiments/verbs/compare.h"
#include "experiments/verbs/eval.h"
#include "experiments/verbs/gradients.h"
#include "experiments/verbs/record.h"
#include "experiments/verbs/run.h"
#include "experiments/verbs/saliency.h"
#include "nn/error.h"

namespace {

enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2, kInterrupted = 130 };

std::atomic<bool> stop_requested{false};

// SIGINT and SIGTERM are blocked in every thread and awaited in one of their own: a handler,
// however small, that ran on a thread inside one of oneDNN's matrix products was seen to corrupt
// the heap. The first signal asks for a clean end; a second one ends the program at once.
void await_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are other threads: they inherit it
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    stop_requested = true;
    sigwait(&signals, &signal);
    std::_Exit(kInterrupted);
  }).detach();
}

// The command as typed, quoted where a shell needs it.
std::string typed(int argc, char** argv) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    if (i > 0) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += '\'';
  }
  return line;
}

// What is wrong with the command line; a verb that is none comes with those there are.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  if (!app.get_subcommands().empty()) return error.what();
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) verbs.push_back(verb->get_name());
  const std::vector<std::string> words = app.remaining();
  return fmt::format("{}; allowed: {}",
                     words.empty() ? "no verb" : fmt::format("'{}' is no verb", words[0]),
                     fmt::join(verbs, ", "));
}

int run(const saccade::RunOptions& options, bool dry_run) {
  if (dry_run) {
    fmt::print("{}", saccade::plan(options));
    return kDone;
  }
  await_stop_signals();
  if (saccade::run(options, stop_requested)) return kDone;
  fmt::print(stderr, "stopped and saved; go on with: {}{}\n", options.command,
             options.resume ? "" : " --resume");
  return kInterrupted;
}

int record(const saccade::RecordOptions& options) {
  await_stop_signals();
  const std::string written = saccade::record(options, stop_requested);
  if (written.empty()) {
    fmt::print(stderr, "stopped; nothing was written\n");
    return kInterrupted;
  }
  fmt::print("{}", written);
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Saccade: recurrent visual attention, hard and soft.", "saccade"};
  app.require_subcommand(1);

  saccade::RunOptions run_options;
  run_options.command = typed(argc, argv);
  CLI::App* run_verb =
      app.add_subcommand("run", "Train, evaluate and test an experiment or a study");
  run_verb->add_option("config", run_options.config, "Experiment (YAML)")->required();
  run_verb->add_option("overrides", run_options.overrides, "key.path=value, over the file");
  run_verb->add_option("--out", run_options.out,
                       "The folder of the run or study (default: runs/<name>/...)");
  run_verb->add_flag("--resume", run_options.resume, "Go on from the last checkpoint, if any");
  run_verb->add_option("--threads", run_options.threads, "Default: all allowed processors")
      ->check(CLI::Range(1, 1024));
  run_verb->add_flag("--quiet", run_options.quiet, "Print nothing but errors");
  bool dry_run = false;
  run_verb->add_flag("--dry-run", dry_run, "List the runs and how long they will take");

  saccade::EvalOptions eval_options;
  CLI::App* eval_verb = app.add_subcommand("eval", "Test the best checkpoint of a run");
  eval_verb->add_option("run_dir", eval_options.run_folder, "A run folder")->required();
  eval_verb->add_option("--episodes", eval_options.scenes, "Test scenes")
      ->check(CLI::Range(1, 100'000'000));
  eval_verb->add_flag("--json", eval_options.json, "One JSON document, keys as in metrics.csv");
  eval_verb->add_option("--weights", eval_options.weights,
                        "A new .npz file: the attention of the deterministic pass, scene by scene "
                        "(locations, glimpse_weights or windows, gate, hidden, alignment, core; "
                        "labels, answers, errors)");
  eval_verb->add_option("--threads", eval_options.threads, "Default: all allowed processors")
      ->check(CLI::Range(1, 1024));

  saccade::RecordOptions record_options;
  CLI::App* record_verb = app.add_subcommand("record", "Film where trained agents look");
  record_verb->add_option("run_dirs", record_options.run_folders, "Run folders, side by side")
      ->required();
  record_verb->add_option("--out", record_options.out,
                          "What to write: .mp4, .gif or .png (default: recording.mp4 in the run "
                          "folder; here, for several)");
  record_verb->add_option("--scenes", record_options.scenes, "Test scenes (default 8; 4 on a .png)")
      ->check(CLI::Range(1, 100'000'000));
  record_verb->add_option("--seed", record_options.seed, "Of the scenes (default evaluation.seed)");
  record_verb->add_option("--only", record_options.only,
                          "wrong, right: scenes that the first agent answers so");
  record_verb->add_option("--fps", record_options.fps, "Glimpses a second (default 3)");
  record_verb->add_flag("--force", record_options.force, "Write over what is there");

  saccade::CompareOptions compare_options;
  compare_options.command = typed(argc, argv);
  CLI::App* compare_verb =
      app.add_subcommand("compare", "Put trained agents side by side: tables, charts, a report");
  compare_verb->add_option("folders", compare_options.folders, "Folders of runs or of studies")
      ->required();
  compare_verb->add_option("--out", compare_options.out,
                           "The folder to write (default: comparison/ in the one given)");
  compare_verb->add_flag("--json", compare_options.json, "Print one JSON document");
  compare_verb->add_flag("--force", compare_options.force, "Write over an older comparison");

  saccade::BenchOptions bench_options;
  CLI::App* bench_verb = app.add_subcommand("bench", "Measure the speed of an experiment");
  bench_verb->add_option("config", bench_options.config, "Experiment (YAML)")->required();
  bench_verb->add_option("overrides", bench_options.overrides, "key.path=value, over the file");
  bench_verb->add_option("--seconds", bench_options.seconds, "How long in all (default 10)");
  bench_verb->add_option("--threads", bench_options.threads, "Default: all allowed processors")
      ->check(CLI::Range(1, 1024));
  bench_verb->add_flag("--json", bench_options.json, "One JSON document");

  saccade::GradientsOptions gradients_options;
  CLI::App* gradients_verb =
      app.add_subcommand("gradients", "Compare advantage estimators by the locator's gradient");
  gradients_verb->add_option("run_dir", gradients_options.run_folder, "A run folder")->required();
  gradients_verb->add_option("--scenes", gradients_options.scenes, "Test scenes (default 64)")
      ->check(CLI::Range(1, 4096));
  gradients_verb->add_option("--rollouts", gradients_options.rollouts, "A scene (default 4)")
      ->check(CLI::Range(2, 256));
  gradients_verb
      ->add_option("--samples", gradients_options.samples, "Draws of the policy (default 128)")
      ->check(CLI::Range(2, 100'000));
  gradients_verb->add_flag("--json", gradients_options.json, "One JSON document");
  gradients_verb
      ->add_option("--threads", gradients_options.threads, "Default: all allowed processors")
      ->check(CLI::Range(1, 1024));

  saccade::SaliencyOptions saliency_options;
  CLI::App* saliency_verb =
      app.add_subcommand("saliency", "Draw which pixels and glimpses an answer hangs on");
  saliency_verb->add_option("run_dir", saliency_options.run_folder, "A run folder")->required();
  saliency_verb
      ->add_option("--out", saliency_options.out, "The folder for saliency.png and saliency.npz")
      ->required();
  saliency_verb->add_option("--scenes", saliency_options.scenes, "Test scenes (default 8)")
      ->check(CLI::Range(1, saccade::kMaxSheetScenes));
  saliency_verb->add_option("--step", saliency_options.step,
                            "Of the answer after this glimpse, or this symbol of a sequence "
                            "(default: the last; every symbol)");
  saliency_verb->add_flag("--force", saliency_options.force, "Write over what is there");

  try {
    app.parse(argc, argv);
    if (*run_verb) return run(run_options, dry_run);
    if (*eval_verb) fmt::print("{}", saccade::eval(eval_options));
    if (*record_verb) return record(record_options);
    if (*compare_verb) fmt::print("{}", saccade::compare(compare_options));
    if (*gradients_verb) fmt::print("{}", saccade::gradients(gradients_options));
    if (*saliency_verb) fmt::print("{}", saccade::saliency(saliency_options));
    if (*bench_verb) fmt::print("{}", saccade::bench(bench_options));
    return kDone;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    fmt::print(stderr, "saccade: {}; --help says more\n", usage_fault(app, error));
    return kBadInput;
  } catch (const saccade::InputError& error) {
    fmt::print(stderr, "saccade: {}\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "saccade: {}\n", error.what());
    return kFailed;
  }
}
