#include "experiments/training/run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <set>

#include "agent/learning/checkpoint.h"
#include "experiments/config/config.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"
#include "experiments/task/task.h"
#include "experiments/training/run_study.h"
#include "experiments/training/training.h"
#include "nn/safetensors.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

std::string run_fault(const RunRequest& options) {
  return message_of<InputError>([&] { run(options, false); });
}

}  // namespace

TEST_CASE("a run folder has every documented file, with its columns and keys") {
  const TrainedTiny tiny;

  std::set<std::string> files;
  for (const auto& [path, bytes] : contents(tiny.run)) files.insert(path);
  CHECK(files == std::set<std::string>{"config.yaml", "command.txt", "meta.json", "metrics.csv",
                                       "summary.json", "test.json", kLast, kPrevious, kBest});
  CHECK(bytes_of(tiny.run / "config.yaml") == to_yaml(read_config(tiny.yaml)));
  CHECK(Checkpoint(tiny.run / kBest).config_yaml() == to_yaml(read_config(tiny.yaml)));
  CHECK(bytes_of(tiny.run / "command.txt") == "saccade run tiny.yaml --out out\n");

  const nlohmann::json meta = read_json(tiny.run / "meta.json");
  for (const char* key : {"version", "commit", "compiler", "processor"}) {
    CAPTURE(key);
    CHECK(meta.at(key).get<std::string>() != "");
  }
  CHECK(meta.at("threads") == 1);
  CHECK(meta.at("data_crc32").size() == 4);

  const nlohmann::json summary = read_json(tiny.run / "summary.json");
  CHECK(summary.at("status") == "finished");
  CHECK(summary.at("episodes") == 192);
  for (const char* key :
       {"best_episodes", "valid/error", "test/error", "test/error_low", "test/error_high",
        "test/error_sampled", "test/error_averaged", "test/error_random", "attention/on_target",
        "attention/border", "attention/distance", "time/elapsed"}) {
    CAPTURE(key);
    CHECK(summary.at(key).is_number());
  }
  CHECK(summary.at("test/scenes") == 150);
  CHECK(summary.at("attention/on_target_by_glimpse").size() == 3);
}

TEST_CASE("metrics.csv has one row per logging step, and the best evaluation is kept") {
  const TrainedTiny tiny;
  const Csv metrics(tiny.run / "metrics.csv");
  CHECK(metrics.columns.front() == "episodes");
  CHECK(metrics.column.at("episodes") == kTinyRows);

  const std::set<std::string> evaluated_only = {"valid/error", "attention/on_target",
                                                "attention/border", "attention/distance"};
  for (const char* column :
       {"train/loss", "train/classifier_loss", "train/reinforce_loss", "train/baseline_loss",
        "train/error", "train/grad_norm", "train/learning_rate", "train/location_std",
        "valid/error", "attention/on_target", "attention/border", "attention/distance",
        "attention/entropy", "time/episodes_per_second", "time/elapsed"}) {
    CAPTURE(column);
    REQUIRE(metrics.column.contains(column));
    for (std::size_t row = 0; row < kTinyRows.size(); ++row) {
      const bool evaluated = std::ranges::count(kTinyEvaluations, kTinyRows[row]) > 0;
      CHECK(metrics.column.at(column)[row].empty() ==
            (evaluated_only.contains(column) && !evaluated));
    }
  }

  const nlohmann::json summary = read_json(tiny.run / "summary.json");
  double best_error = 2.0;
  std::string best_episodes;
  for (std::size_t row = 0; row < kTinyRows.size(); ++row) {
    const std::string& error = metrics.column.at("valid/error")[row];
    if (error.empty() || std::stod(error) >= best_error) continue;
    best_error = std::stod(error);
    best_episodes = kTinyRows[row];
  }
  CHECK(summary.at("valid/error").get<double>() == doctest::Approx(best_error));
  CHECK(summary.at("best_episodes") == std::stoi(best_episodes));
  CHECK(Checkpoint(tiny.run / kBest).updates() * 16 == std::stoi(best_episodes));
  CHECK(Checkpoint(tiny.run / kLast).updates() * 16 == 192);
}

TEST_CASE("a row is the mean since the previous row") {
  const TinyExperiment tiny;
  const auto error_sum = [&](const std::string& out, const std::string& log_every) {
    const Csv metrics(tiny.train(out, {"log.every=" + log_every}) / "metrics.csv");
    double sum = 0.0, before = 0.0;
    for (std::size_t row = 0; row < metrics.column.at("episodes").size(); ++row) {
      const double episodes = std::stod(metrics.column.at("episodes")[row]);
      sum += (episodes - before) * std::stod(metrics.column.at("train/error")[row]);
      before = episodes;
    }
    return sum;
  };
  const double errors = error_sum("each", "1");
  CHECK(errors > 0.0);
  CHECK(error_sum("some", "40") == doctest::Approx(errors));
}

TEST_CASE("the number of threads changes nothing but the times") {
  const TinyExperiment tiny;
  const fs::path one = tiny.train("threads-1");
  for (const int threads : {2, 4}) {
    CAPTURE(threads);
    RunRequest options = tiny.options(fmt::format("threads-{}", threads));
    options.threads = threads;
    CHECK(run(options, false));
    check_same_run(options.out, one);
    CHECK(read_json(options.out / "meta.json").at("threads") == threads);
  }
  CHECK((bytes_of(tiny.train("other", {"seed=2"}) / kLast) != bytes_of(one / kLast)));
}

TEST_CASE("trainings in one process do not affect each other") {
  const TinyExperiment tiny;
  const Names other = {"model.core=gru", "seed=2"};
  const fs::path one = tiny.train("one"), two = tiny.train("two", other);
  const auto train = [&](const std::string& out, const Overrides& overrides, int threads) {
    RunRequest options = tiny.options(out, overrides);
    options.threads = threads;
    return std::async(std::launch::async, [options] { return run(options, false); });
  };
  std::future<RunEnd> at_once[] = {train("one-at-once", {}, 1), train("two-at-once", other, 2)};
  for (std::future<RunEnd>& training : at_once) CHECK(training.get());
  CHECK((bytes_of(tiny.path / "one-at-once" / kLast) == bytes_of(one / kLast)));
  CHECK((bytes_of(tiny.path / "two-at-once" / kLast) == bytes_of(two / kLast)));
}

TEST_CASE("an existing folder is left untouched") {
  const TinyExperiment tiny;
  tiny.train("out");
  fs::create_directories(tiny.path / "mine");
  put_bytes(tiny.path / "mine/thesis.tex", "everything");
  const auto before = contents(tiny.path);
  for (const char* out : {"out", "mine", "tiny.yaml"}) {
    CAPTURE(out);
    CHECK(run_fault(tiny.options(out)) ==
          (tiny.path / out).string() +
              ": exists already; --resume continues it, --out DIR chooses "
              "another folder");
  }
  RunRequest options = tiny.options("mine");
  options.resume = true;
  CHECK(run_fault(options).starts_with((options.out / kLast).string() + ": "));
  options.out = tiny.yaml;
  CHECK(run_fault(options) == tiny.yaml.string() + ": the folder cannot be made: Not a directory");
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("a run killed before its first checkpoint starts anew") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  RunRequest options = tiny.options("out");
  options.resume = true;
  RunFolder(options.out).create(read_config(tiny.yaml), "saccade run", "{}");
  put_bytes(options.out / "thesis.tex", "everything");
  CHECK(contains(run_fault(options), kLast));
  fs::remove(options.out / "thesis.tex");
  CHECK(run(options, false));
  CHECK(bytes_of(options.out / kLast) == bytes_of(whole / kLast));
}

TEST_CASE("a run killed anywhere before its first checkpoint leaves a usable folder") {
  const TinyExperiment tiny;
  const std::string checkpoint = bytes_of(tiny.train("whole") / kLast);
  for (const bool resume : {false, true})
    for (int files = 0; files <= 5; ++files) {
      CAPTURE(resume);
      CAPTURE(files);
      RunRequest options = tiny.options(fmt::format("out-{}-{}", resume, files));
      options.resume = resume;
      fs::create_directories(options.out / "checkpoints");
      const char* const begun[] = {"config.yaml", "command.txt", "meta.json", "metrics.csv",
                                   "checkpoints/last.saccade.part.0123abcd.safetensors"};
      for (int i = 0; i < files; ++i) put_bytes(options.out / begun[i], "");
      CHECK(run(options, false));
      CHECK(bytes_of(options.out / kLast) == checkpoint);
      CHECK_FALSE(fs::exists(options.out / begun[4]));
    }
}

TEST_CASE(
    "a folder without a checkpoint but with more than a starting run's files is left untouched") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("mine");
  fs::create_directories(options.out);
  put_bytes(options.out / "config.yaml", "name: mine");
  CHECK(contains(run_fault(options), "exists already"));
  fs::create_directories(options.out / "checkpoints");
  put_bytes(options.out / kBest, "weights");
  CHECK(contains(run_fault(options), "exists already"));
  CHECK(bytes_of(options.out / "config.yaml") == "name: mine");
}

TEST_CASE("an existing folder is detected before the data are read") {
  const TinyExperiment tiny;
  tiny.train("out");
  CHECK(contains(run_fault(tiny.options("out", {"data.path=none"})), "out: exists already"));
}

TEST_CASE("a folder that cannot be made is reported") {
  const TinyExperiment tiny;
  const auto before = contents(tiny.path);
  for (const bool resume : {false, true}) {
    RunRequest options = tiny.options("tiny.yaml/out");
    options.resume = resume;
    CHECK(run_fault(options) ==
          options.out.string() + ": the folder cannot be made: Not a directory");
  }
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("bad data leave no folder behind") {
  const TinyExperiment tiny;
  const RunRequest options = tiny.options("out", {"data.path=" + (tiny.path / "no").string()});
  CHECK(contains(run_fault(options), "train-images-idx3-ubyte: missing"));
  CHECK_FALSE(fs::exists(options.out));
  CHECK(contains(run_fault(tiny.options("out", {"retina.patch_size=500"})),
                 "retina.patch_size: 500"));
  CHECK_FALSE(fs::exists(options.out));
}

TEST_CASE("a non-finite loss ends the run and keeps the last good checkpoint") {
  const TinyExperiment tiny;
  // Gradient descent on the baseline's squared error, with a step far beyond the stable size.
  Overrides overrides = {
      "model.core=rnn",           "reinforce.advantage=learned", "reinforce.baseline_weight=100",
      "training.optimizer=sgd",   "training.learning_rate=10",   "training.warmup=0",
      "training.max_grad_norm=0", "evaluation.every=16"};
  RunRequest options = tiny.options("out", overrides);
  const auto said = [&] { return message_of<NonFiniteError>([&] { run(options, false); }); };
  const std::string message = said();
  INFO("message: " << message);
  const Checkpoint checkpoint(options.out / kLast);
  REQUIRE(checkpoint.updates() > 0);
  CHECK(message.starts_with(fmt::format("update {}: the ", checkpoint.updates())));
  CHECK((contains(message, "loss is ") || contains(message, "gradient norm is ")));
  CHECK((contains(message, "inf;") || contains(message, "nan;")));
  check_contains(message, {"; the last good checkpoint is " + (options.out / kLast).string() + "\n",
                           "init_from=" + (options.out / kBest).string() +
                               " training.learning_rate=2.5 --out DIR"});
  for (const NamedTensor& tensor : read_safetensors(options.out / kLast).tensors) {
    CAPTURE(tensor.name);
    CHECK(std::ranges::all_of(tensor.data, [](float x) { return std::isfinite(x); }));
  }
  const Csv metrics(options.out / "metrics.csv");
  CHECK(metrics.column.at("episodes").back() == std::to_string(16 * checkpoint.updates()));
  CHECK_FALSE(fs::exists(options.out / "summary.json"));

  const std::string good = bytes_of(options.out / kLast);
  options.resume = true;
  CHECK(said() == message);
  CHECK((bytes_of(options.out / kLast) == good));

  overrides.back() = "evaluation.every=1000000";
  options = tiny.options("none", overrides);
  CHECK(contains(said(), "; the last good checkpoint is " + (options.out / kLast).string()));
  CHECK(Checkpoint(options.out / kLast).updates() == 0);
}

TEST_CASE("a run without --out is named after its configuration, overrides and seed") {
  const auto folder = [](const Overrides& overrides) {
    const Study study = parse_study("name: tiny", "x.yaml", {}, overrides);
    return folder_of(study, study.runs.front(), {}).string();
  };
  CHECK(folder({}) == "runs/tiny/base/seed-1");
  CHECK(folder({"seed=7", "name=other"}) == "runs/other/base/seed-7");
  CHECK(folder({"training.learning_rate=0.01", "seed=2", "model.core=gru"}) ==
        "runs/tiny/model.core=gru,training.learning_rate=0.01/seed-2");
  CHECK(folder({"model.core=gru", "training.learning_rate=1e-2", "seed=2"}) ==
        "runs/tiny/model.core=gru,training.learning_rate=0.01/seed-2");
  CHECK(folder({"attention.glimpse.std={to: 0.05, from: 0.3, over: 0.6}"}) ==
        "runs/tiny/glimpse.std=0.3-0.05-0.6/seed-1");
  CHECK(folder({"model.core=gru", "variant=small"}) == "runs/tiny/small/seed-1");
  CHECK(folder({"data.path=../a b/c"}) == "runs/tiny/data.path=..-a-b-c/seed-1");

  const auto name = [&](std::size_t letters, char last) {
    const std::string path = std::string(letters - 1, 'a') + last;
    return fs::path(folder({"data.path=" + path})).parent_path().filename().string();
  };
  CHECK(name(90, 'b') == "data.path=" + std::string(89, 'a') + "b");
  CHECK(name(91, 'b').size() == 100);
  CHECK(name(91, 'b').starts_with("data.path=" + std::string(81, 'a') + ","));
  CHECK(name(91, 'b') != name(91, 'c'));
}

TEST_CASE("a run warns of a seed that draws its test scenes, and of rewards that nothing trains") {
  const TinyExperiment tiny;
  int runs = 0;
  const auto remarked = [&](const Overrides& overrides) {
    struct Remarks : StopsInUpdate {
      void remark(const std::string& text) override { all += text; }
      std::string all;
    } remarks;
    const RunFolder folder(tiny.path / fmt::format("run{}", runs++));
    CHECK_FALSE(
        train(read_config(tiny.yaml, overrides), folder, {.threads = 1}, remarks, remarks.stop));
    return remarks.all;
  };
  CHECK(remarked({}) == "");
  CHECK(remarked({"seed=777"}) ==
        "warning: seed: 777 is evaluation.seed, too, so the first training scenes have the layouts "
        "of the validation and test scenes, with other digits; another seed has its own\n");
  CHECK(contains(remarked({"evaluation.seed=1"}), "warning: seed: 1 is evaluation.seed, too"));
  Overrides without_digits = kCatchTask;
  without_digits.push_back("seed=777");
  CHECK(remarked(without_digits) == "");

  CHECK(contains(remarked({"reinforce.reward=gain"}),
                 "warning: reinforce.reward: gain rewards each"));
  CHECK(remarked({"reinforce.reward=gain", "training.step_loss=0.5"}) == "");
}

TEST_CASE("a warning of overfitting counts the images that the validation showed") {
  const TinyExperiment tiny;
  const Task task(read_config(tiny.yaml, Overrides{"evaluation.scenes=3"}));
  REQUIRE(task.digits.valid.size() > 3);
  const RunFolder folder(tiny.path / "out");
  const RunLock lock(folder.path(), "a test");
  folder.create(task.config, "a test", "{}");
  Workers workers(1);
  Progress progress;
  Training training(task, folder, &lock, workers, alone(), progress);
  training.begin();
  CHECK(training.figures().valid_images == 0);
  CHECK(training.train(false));
  CHECK(training.figures().valid_images > 0);
  CHECK(training.figures().valid_images <= 3);
}

}  // namespace saccade
