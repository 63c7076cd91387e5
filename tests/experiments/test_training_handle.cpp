// What may be done with a training while it reports a row, and the snapshots of its evaluations.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>

#include "agent/learning/checkpoint.h"
#include "base/error.h"
#include "experiments/evaluation/evaluator.h"
#include "experiments/runs/trained.h"
#include "experiments/training/run.h"
#include "experiments/training/train.h"
#include "tests/experiments/support.h"
#include "tests/thread_ranks.h"

namespace saccade {
namespace {

// Calls a function at each row; it returns whether to stop.
struct AtRows : Progress {
  using AtRow = std::function<bool(TrainingHandle&)>;
  explicit AtRows(AtRow at) : at_row(std::move(at)) {}

  void row(const MetricsRow&, TrainingHandle& training) override {
    stop = at_row(training) || stop;
  }
  void note(const std::string& text) override { notes += text; }

  AtRow at_row;
  std::string notes;
  std::atomic<bool> stop = false;
};

bool train_with(const RunRequest& options, AtRows& progress) {
  return train(read_config(options.config, options.overrides), RunFolder(options.out),
               {.resume = options.resume, .threads = 2, .command = options.command}, progress,
               progress.stop);
}

AtRows halving_at(std::int64_t episodes, std::int64_t stop_at = 0) {
  return AtRows([=](TrainingHandle& training) {
    if (training.episodes() == episodes) training.set_learning_rate_factor(0.5);
    return training.episodes() == stop_at;
  });
}

Names snapshots_of(const fs::path& run) {
  Names names;
  for (const auto& entry : fs::directory_iterator(run / "snapshots"))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("a checkpoint that is saved at any row resumes to the same bytes") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  for (const std::string& row : kTinyRows) {
    CAPTURE(row);
    RunRequest options = tiny.options("saved-" + row);
    std::string saved;
    AtRows saving([&](TrainingHandle& training) {
      if (training.episodes() != std::stoll(row)) return false;
      CHECK(training.save_last() == options.out / kLast);
      saved = bytes_of(options.out / kLast);
      return false;
    });
    CHECK(train_with(options, saving));
    check_same_run(options.out, whole);
    // As if the process had been killed in that row.
    put_bytes(options.out / kLast, saved);
    fs::remove(options.out / "summary.json");
    CHECK(Checkpoint(options.out / kLast).updates() == std::stoll(row) / 16);
    options.resume = true;
    CHECK(run(options, false));
    check_same_run(options.out, whole);
  }
}

TEST_CASE("a factor on the learning rate holds from the next update on, also after a stop") {
  const TinyExperiment tiny;
  const fs::path plain = tiny.train("plain");
  RunRequest options = tiny.options("halved");
  AtRows halving = halving_at(80);
  CHECK(train_with(options, halving));
  const auto rates = [](const fs::path& folder) {
    return Csv(folder / "metrics.csv").column.at("train/learning_rate");
  };
  for (std::size_t i = 0; i < kTinyRows.size(); ++i)
    CHECK(std::stod(rates(options.out)[i]) ==
          doctest::Approx(std::stod(rates(plain)[i]) * (i > 2 ? 0.5 : 1.0)));

  // Resumed without the callback, from a row with an evaluation and from one without.
  for (const int stop_at : {80, 128, 160}) {
    CAPTURE(stop_at);
    RunRequest stopped = tiny.options(fmt::format("stopped-{}", stop_at));
    AtRows stopping = halving_at(80, stop_at);
    CHECK_FALSE(train_with(stopped, stopping));
    stopped.resume = true;
    AtRows nothing([](TrainingHandle&) { return false; });
    CHECK(train_with(stopped, nothing));
    CHECK(nothing.notes.find("continues with 0.5 times the learning rate") != std::string::npos);
    check_same_run(stopped.out, options.out);
  }
}

TEST_CASE("several ranks continue with the factor on the learning rate, and cannot set it") {
  const TinyExperiment tiny;
  AtRows whole = halving_at(80), stopping = halving_at(80, 80);
  CHECK(train_with(tiny.options("whole"), whole));
  RunRequest options = tiny.options("stopped");
  CHECK_FALSE(train_with(options, stopping));
  options.resume = true;
  on_ranks(3, [&](Ranks& ranks) { CHECK(run(options, std::atomic<bool>(false), ranks)); });
  check_same_run(options.out, tiny.path / "whole");

  std::string refusal;
  on_ranks(2, [&](Ranks& ranks) {
    AtRows setting([&](TrainingHandle& training) {
      const std::string message =
          message_of<InputError>([&] { training.set_learning_rate_factor(0.5); });
      if (ranks.first()) refusal = message;
      return true;
    });
    const RunRequest both = tiny.options("both");
    CHECK_FALSE(train(read_config(both.config), RunFolder(both.out), {.threads = 1}, setting,
                      setting.stop, ranks));
  });
  CHECK(refusal == "learning_rate_factor: set while several ranks train; allowed: one rank");
}

TEST_CASE("the checkpoint of an evaluation has the factor that was set at its row") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("halved");
  std::string saved;
  AtRows halving([&](TrainingHandle& training) {
    if (training.episodes() == 128) training.set_learning_rate_factor(0.5);
    if (training.episodes() == 160) saved = bytes_of(options.out / kLast);
    return false;
  });
  CHECK(train_with(options, halving));
  const fs::path whole = tiny.path / "whole";
  fs::copy(options.out, whole, fs::copy_options::recursive);
  put_bytes(options.out / kLast, saved);
  fs::remove(options.out / "summary.json");
  options.resume = true;
  CHECK(run(options, false));
  check_same_run(options.out, whole);
}

TEST_CASE("the handle has the learning rate of the next update, and refuses an invalid factor") {
  const TinyExperiment tiny;
  double next = 0.0;
  AtRows asking([&](TrainingHandle& training) {
    CHECK(training.learning_rate_factor() == 1.0);
    for (const double factor : {-0.1, 1e7, std::nan(""), HUGE_VAL}) {
      const std::string message =
          message_of<InputError>([&] { training.set_learning_rate_factor(factor); });
      CHECK(message.starts_with("learning_rate_factor: "));
      CHECK(message.ends_with("; allowed: 0 to 1000000"));
    }
    next = training.learning_rate();
    training.set_learning_rate_factor(3.0);
    CHECK(training.learning_rate() == 3.0 * next);
    return true;
  });
  const RunRequest options = tiny.options("asked", {"training.schedule=constant"});
  CHECK_FALSE(train_with(options, asking));
  CHECK(next == doctest::Approx(0.02));
}

TEST_CASE("the handle writes the averaged weights as an agent") {
  const TinyExperiment tiny;
  const RunRequest options = tiny.options("run");
  AtRows writing([&](TrainingHandle& training) {
    training.save_agent(options.out / fmt::format("at-{}.safetensors", training.episodes()));
    return false;
  });
  CHECK(train_with(options, writing));
  const Trained last(options.out / "at-192.safetensors");
  Tensor<1> weights = zeros<1>(last.task.model.layout().size());
  Checkpoint(options.out / kLast).restore_averaged(weights, last.task.model.layout());
  CHECK(last.weights == weights);
  CHECK_FALSE(Trained(options.out / "at-160.safetensors").weights == weights);
}

TEST_CASE("an agent is tested with the exploration with which it was validated") {
  const TinyExperiment tiny;
  const fs::path run =
      tiny.train("out", {"attention.glimpse.kind=soft_point", "attention.glimpse.spread=1",
                         "attention.glimpse.std={from: 0.9, to: 0.1}", "log.snapshots=true"});
  const auto width_of = [](const Trained& trained) {
    return trained.task.model.looking->exploration_at(1.0, flat(trained.weights)).width();
  };
  for (const std::string& episodes : kTinyEvaluations) {
    CAPTURE(episodes);
    const Trained snapshot(run / "snapshots" / ("episodes-" + episodes + ".safetensors"));
    CHECK(width_of(snapshot) == doctest::Approx(0.9 - 0.8 * std::stod(episodes) / 192.0));
  }
  // The best checkpoint, whichever it is, in the test of the training as in one of its own.
  const nlohmann::json summary = read_json(run / "summary.json");
  const Trained best(run);
  CHECK(width_of(best) ==
        doctest::Approx(0.9 - 0.8 * summary["best_episodes"].get<double>() / 192.0));
  Workers workers(1);
  Evaluator tester(best.task.model, best.task.environments(Split::test),
                   best.task.test_scenes(best.task.config.evaluation),
                   best.task.config.evaluation.seed, workers);
  CHECK(tester.run(flat(best.weights), {}).error == summary["test/error"].get<double>());
}

TEST_CASE("log.snapshots keeps the agent of every evaluation, once") {
  const TinyExperiment tiny;
  const Overrides overrides = {"log.snapshots=true"};
  const fs::path whole = tiny.train("whole", overrides);
  Names files;
  for (const std::string& episodes : kTinyEvaluations)
    files.push_back("episodes-" + episodes + ".safetensors");
  std::ranges::sort(files);
  CHECK(snapshots_of(whole) == files);
  const std::string best = fmt::format("snapshots/episodes-{}.safetensors",
                                       read_json(whole / "summary.json")["best_episodes"].dump());
  CHECK(Trained(whole / best).weights == Trained(whole).weights);
  CHECK_FALSE(fs::exists(tiny.train("none") / "snapshots"));

  // Stopped after each update, and with what a killed writer left.
  RunRequest options = tiny.options("stopped", overrides);
  while (!run_one_update(options)) {
    options.resume = true;
    fs::create_directories(options.out / "snapshots");
    put_bytes(options.out / "snapshots/episodes-64.saccade.part.0123abcd.safetensors", "half");
  }
  CHECK(snapshots_of(options.out) == files);
  for (const std::string& file : files)
    CHECK((bytes_of(options.out / "snapshots" / file) == bytes_of(whole / "snapshots" / file)));
  check_same_run(options.out, whole);
}

}  // namespace saccade
