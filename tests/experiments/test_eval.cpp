#include "experiments/analysis/evaluate.h"

#include <doctest/doctest.h>

#include "tests/experiments/support.h"

namespace saccade {
namespace {

nlohmann::json eval_json(const fs::path& folder, int scenes = 0, int threads = 1) {
  return to_json(
      evaluate({.run_folder = folder, .on = {.test_scenes = scenes}, .threads = threads}));
}

std::string eval_fault(const fs::path& folder) {
  return message_of<InputError>([&] { evaluate({.run_folder = folder}); });
}

}  // namespace

TEST_CASE("eval reproduces the figures of the run's summary for any number of threads") {
  const TrainedTiny tiny;
  const auto before = contents(tiny.run);
  const nlohmann::json summary = read_json(tiny.run / "summary.json");
  for (const int threads : {1, 2, 4}) {
    const nlohmann::json document = eval_json(tiny.run, 0, threads);
    CHECK(document.size() == 37);
    for (const auto& [key, value] : document.items()) {
      CAPTURE(key);
      CHECK((key.starts_with("test/") || key.starts_with("attention/")));
      CHECK((key == "test/stopping" ? read_json(tiny.run / "test.json") : summary).at(key) ==
            value);
    }
  }
  CHECK(contents(tiny.run) == before);
}

TEST_CASE("eval prints the table of the run") {
  const TrainedTiny tiny;
  const nlohmann::json figures = eval_json(tiny.run);
  const Names lines = split(to_text(evaluate({.run_folder = tiny.run, .threads = 2}).table), '\n');
  REQUIRE(lines.size() == 9);
  CHECK(lines[0].starts_with("  test, 150 scenes "));
  const auto check_row = [&](const std::string& line, const std::string& name,
                             const std::string& key) {
    CAPTURE(line);
    CHECK(line.starts_with("  " + name + " "));
    const auto per_cent = [&](const std::string& suffix) {
      return 100 * figures.at(key + suffix).get<double>();
    };
    CHECK(contains(line, fmt::format(" {:.2f} %   [{:.2f}, {:.2f}]   ", per_cent(""),
                                     per_cent("_low"), per_cent("_high"))));
  };
  check_row(lines[1], "single deterministic pass", "test/error");
  check_row(lines[2], "one sampled pass", "test/error_sampled");
  check_row(lines[3], "mean of 2 sampled passes", "test/error_averaged");
  check_row(lines[4], "shuffled locations", "test/error_shuffled");
  check_row(lines[5], "centre policy, same weights", "test/error_center");
  check_row(lines[6], "random policy, same weights", "test/error_random");
  CHECK(lines[1].ends_with(
      fmt::format(" {:.1f} %", 100 * figures.at("attention/on_target").get<double>())));
  check_row(
      lines[7],
      fmt::format("stops when surer than {}", figures.at("test/stop_threshold").get<double>()),
      "test/stopped_error");
  CHECK(lines[7].ends_with(fmt::format(" {:.2f} looks", figures.at("test/looks").get<double>())));
  CHECK(lines[8].empty());
}

TEST_CASE("eval uses the requested number of scenes") {
  const TrainedTiny tiny;
  CHECK(eval_json(tiny.run, 40).at("test/scenes") == 40);
  CHECK(eval_json(tiny.run, 40) != eval_json(tiny.run));
  CHECK(eval_json(tiny.run, 150) == eval_json(tiny.run));
}

TEST_CASE("eval reads the best checkpoint, or the last if there is no best yet") {
  const TrainedTiny tiny;
  const nlohmann::json own = eval_json(tiny.run);
  const nlohmann::json other = eval_json(tiny.train("other", {"seed=2"}));
  REQUIRE(other != own);

  fs::copy_file(tiny.path / "other" / kBest, tiny.run / kLast,
                fs::copy_options::overwrite_existing);
  CHECK(eval_json(tiny.run) == own);
  fs::rename(tiny.run / kLast, tiny.run / kBest);
  CHECK(eval_json(tiny.run) == other);

  RunRequest options = tiny.options("stopped");
  CHECK_FALSE(run(options, true));
  REQUIRE_FALSE(fs::exists(options.out / kBest));
  CHECK(eval_json(options.out).at("test/scenes") == 150);
}

TEST_CASE("eval needs nothing of a run folder but its checkpoint") {
  const TinyExperiment tiny;
  const nlohmann::json own = eval_json(tiny.train("out"));
  fs::create_directories(tiny.path / "copy/checkpoints");
  fs::copy_file(tiny.path / "out" / kBest, tiny.path / "copy" / kBest);
  fs::remove(tiny.yaml);
  CHECK(eval_json(tiny.path / "copy") == own);
}

TEST_CASE("eval can use digits of another source with the same number of classes") {
  const TinyExperiment tiny;
  const fs::path drawn =
      tiny.train("drawn", {"data.source=synthetic", "data.path=null", "scene.canvas=[40, 40]"});
  const auto shown = [](const fs::path& folder, const std::string& data) {
    return to_json(
        evaluate({.run_folder = folder, .on = {.data = data, .test_scenes = 50}, .threads = 1}));
  };
  CHECK(shown(drawn, "synthetic") == shown(drawn, ""));
  const fs::path bars = tiny.train("bars", {"scene.canvas=[40, 40]"});
  CHECK(contains(message_of<InputError>([&] { shown(bars, "synthetic"); }), "but this model has"));
  CHECK(contains(message_of<InputError>([&] { shown(bars, "folder"); }), "data.path: null"));
  CHECK(contains(message_of<InputError>([&] { shown(bars, "mnits"); }), "unknown data.source"));
}

TEST_CASE("eval refuses a folder that is not a run, and a damaged checkpoint") {
  const TinyExperiment tiny;
  for (const char* name : {"none", "data", "tiny.yaml"}) {
    CAPTURE(name);
    CHECK(eval_fault(tiny.path / name) == (tiny.path / name).string() +
                                              ": no run folder with a checkpoint (looked for " +
                                              (tiny.path / name / kBest).string() + ")");
  }
  const fs::path folder = tiny.train("out");
  const std::string good = bytes_of(folder / kBest);
  put_bytes(folder / kBest, good.substr(0, good.size() - 8));
  CHECK(eval_fault(folder).starts_with((folder / kBest).string() + ": truncated"));
  std::string altered = good;
  altered.back() ^= 1;
  put_bytes(folder / kBest, altered);
  CHECK(eval_fault(folder).starts_with((folder / kBest).string() + ": altered: "));
  put_bytes(folder / kBest, good);
  fs::remove(tiny.path / "data" / kIdxFiles[2]);
  CHECK(contains(eval_fault(folder), "t10k-images-idx3-ubyte: missing"));
}

}  // namespace saccade
