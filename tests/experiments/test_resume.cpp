// Interrupted runs: what they resume from, and what they refuse to resume from.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

#include "agent/learning/checkpoint.h"
#include "tests/experiments/resuming.h"

namespace saccade {
namespace {

// Stops in the final test after `scenes`.
struct StopsInTest : Progress {
  explicit StopsInTest(std::int64_t scenes) : at(scenes) {}
  ProgressCallback testing() override {
    return [this](std::int64_t done, std::int64_t) {
      tested = std::max(tested.load(), done);
      stop = stop || done >= at;
    };
  }
  std::int64_t at;
  std::atomic<std::int64_t> tested = 0;
  std::atomic<bool> stop = false;
};

}  // namespace

TEST_CASE("a run that is stopped and resumed ends like an uninterrupted one") {
  for (const std::string core : {"rnn", "gru"}) {
    CAPTURE(core);
    const TinyExperiment tiny;
    const Overrides overrides = {"model.core=" + core, "attention.glimpse.first=learned"};
    const fs::path whole = tiny.train("whole", overrides);

    RunRequest options = tiny.options("stopped", overrides);
    const fs::path stopped = options.out;
    int stops = 0;
    for (; !run_one_update(options); ++stops) {
      REQUIRE(stops < 13);
      CHECK(Checkpoint(stopped / kLast).updates() == stops + 1);
      CHECK_FALSE(fs::exists(stopped / "summary.json"));
      options.resume = true;
      options.threads = 1 + stops % 3;
    }
    CHECK(stops == 12);  // the last evaluation and the test remain
    check_same_run(stopped, whole);

    const Csv metrics(stopped / "metrics.csv");
    std::vector<double> elapsed;  // continues the count
    for (const std::string& cell : metrics.column.at("time/elapsed"))
      elapsed.push_back(std::stod(cell));
    CHECK(std::ranges::is_sorted(elapsed));
  }
}

TEST_CASE("a run stopped in an evaluation repeats it when resumed") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  const Csv rows(whole / "metrics.csv");
  RunRequest options = tiny.options("stopped");
  int stops = 0;
  for (std::size_t row = 0; row < rows.column.at("episodes").size(); ++row) {
    if (rows.column.at("valid/error")[row].empty()) continue;
    ++stops;
    StopsAt at(std::stoll(rows.column.at("episodes")[row]));
    CAPTURE(at.at);
    CHECK_FALSE(run_until(options, at, at.stop));
    CHECK(Checkpoint(options.out / kLast).has_note("row"));
    const Csv now(options.out / "metrics.csv");
    CHECK(now.column.at("episodes").size() == row);  // the earlier rows
    options.resume = true;
    // A run killed between the row and the checkpoint writes the row again.
    const std::string pending = bytes_of(options.out / kLast);
    StopsAt next(at.at + 16);
    run_until(options, next, next.stop);
    put_bytes(options.out / kLast, pending);
    fs::remove(options.out / "summary.json");
  }
  CHECK(stops >= 2);
  CHECK(run(options, false));
  check_same_run(options.out, whole);
}

TEST_CASE("a run stopped in its final test resumes with the test") {
  const TinyExperiment tiny;
  const Overrides overrides = {"evaluation.scenes=1000"};
  const fs::path whole = tiny.train("whole", overrides);
  RunRequest options = tiny.options("stopped", overrides);
  StopsInTest stops(100);
  CHECK_FALSE(run_until(options, stops, stops.stop));
  CHECK(stops.tested >= 100);
  CHECK(stops.tested < 1000);
  CHECK_FALSE(fs::exists(options.out / "summary.json"));
  CHECK((bytes_of(options.out / kLast) == bytes_of(whole / kLast)));
  options.resume = true;
  CHECK(run(options, false));
  check_same_run(options.out, whole);
}

TEST_CASE("a killed run continues from its last checkpoint") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  // The state of a run killed after the row of 80 episodes, with a checkpoint of 64.
  RunRequest options = tiny.options("killed");
  for (int n = 0; n < 4; ++n) CHECK_FALSE(run_one_update(n == 0 ? options : resumed(options)));
  options.resume = true;
  const std::string checkpoint = bytes_of(options.out / kLast);
  CHECK_FALSE(run_one_update(options));
  put_bytes(options.out / kLast, checkpoint);
  REQUIRE(Csv(options.out / "metrics.csv").column.at("episodes").back() == "80");
  CHECK(run(options, false));
  check_same_run(options.out, whole);
}

TEST_CASE("an incomplete row is dropped, and so are recordings") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  RunRequest options = tiny.options("killed");
  CHECK_FALSE(run_one_update(options));
  const std::string rows = bytes_of(options.out / "metrics.csv");
  put_bytes(options.out / "metrics.csv", rows + "1");
  fs::create_directories(options.out / "recordings");
  put_bytes(options.out / "recordings/episodes-16.saccade.part.0123abcd.gif", "GIF8");
  put_bytes(options.out / "recordings/episodes-00.gif", "GIF8");
  CHECK(run(resumed(options), false));
  check_same_run(options.out, whole);
  CHECK_FALSE(fs::exists(options.out / "recordings/episodes-16.saccade.part.0123abcd.gif"));
  CHECK(fs::exists(options.out / "recordings/episodes-00.gif"));
}

TEST_CASE("an empty summary means that the run has not finished") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK(run(options, false));
  const auto summary = without_times(read_json(options.out / "summary.json"));
  put_bytes(options.out / "summary.json", "");
  CHECK(run(resumed(options), false));
  CHECK(without_times(read_json(options.out / "summary.json")) == summary);
}

TEST_CASE("resuming a finished run whose summary is missing only repeats the test") {
  const TrainedTiny tiny;
  const auto before = contents(tiny.run);
  const nlohmann::json summary = read_json(tiny.run / "summary.json");
  fs::remove(tiny.run / "summary.json");
  CHECK(run(resumed(tiny.options("out")), false));
  CHECK(without_times(read_json(tiny.run / "summary.json")) == without_times(summary));
  auto after = contents(tiny.run);
  after["summary.json"] = before.at("summary.json");
  CHECK(after == before);
}

TEST_CASE("--resume starts a new run if there is none") {
  const TrainedTiny tiny;
  CHECK(run(resumed(tiny.options("new")), false));
  CHECK((bytes_of(tiny.path / "new" / kLast) == bytes_of(tiny.run / kLast)));

  fs::create_directory(tiny.path / "empty");
  CHECK(run(resumed(tiny.options("empty")), false));
  CHECK((bytes_of(tiny.path / "empty" / kLast) == bytes_of(tiny.run / kLast)));
}

TEST_CASE("a checkpoint whose mask has no quotes can be resumed") {
  const TinyExperiment tiny;
  const Overrides overrides = {"attention.hidden.kind=attend", "attention.hidden.mask='011'"};
  const fs::path whole = tiny.train("whole", overrides);
  RunRequest options = tiny.options("stopped", overrides);
  CHECK_FALSE(run_one_update(options));
  const fs::path last = options.out / kLast;
  SafetensorsFile file = read_safetensors(last);
  std::string& config = file.metadata.at("config");
  const std::size_t place = config.find("mask: \"011\" ");
  REQUIRE(place != std::string::npos);
  config.replace(place, 11, "mask: 011");
  write_safetensors(last, file.tensors, file.metadata);
  CHECK(run(resumed(options), false));
  CHECK((bytes_of(last) == bytes_of(whole / kLast)));
}

TEST_CASE("config.yaml says what a resumed run trains") {
  const TinyExperiment tiny;
  const RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  const std::string config = bytes_of(options.out / "config.yaml");
  put_bytes(options.out / "config.yaml",
            to_yaml(read_config(tiny.yaml, Overrides{"training.episodes=384"})));
  CHECK(run(resumed(options), false));
  CHECK(bytes_of(options.out / "config.yaml") == config);
}

TEST_CASE("a run cannot be resumed with another configuration or other data") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  const auto before = contents(options.out);
  options.resume = true;

  const struct {
    std::string override, said;
  } changes[] = {{"training.learning_rate=0.01", "training.learning_rate: 0.02 there, 0.01 now"},
                 {"model.hidden_size=5", "model.hidden_size: 6 there, 5 now"},
                 {"seed=9", "seed: 1 there, 9 now"},
                 {"log.every=16", "log.every: 40 there, 16 now"}};
  for (const auto& [override, said] : changes) {
    CAPTURE(override);
    options.overrides = {override};
    const std::string message = resume_fault(options);
    CHECK(contains(message, "last.safetensors: was saved with another configuration: " + said));
    CHECK(contents(options.out) == before);
  }

  options.overrides.clear();
  const auto data = contents(tiny.path / "data");
  write_digits(tiny.path / "data", /*first_pixel=*/41);
  const std::string message = resume_fault(options);
  check_contains(message, {"last.safetensors: was trained on other data: checksums ",
                           "train-images-idx3-ubyte"});
  CHECK(contents(options.out) == before);

  write_digits(tiny.path / "data");
  REQUIRE(contents(tiny.path / "data") == data);
  CHECK_FALSE(run_one_update(options));
}

TEST_CASE("a run folder that contains a symbolic link is not written to") {
  const TinyExperiment tiny;
  const RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  put_bytes(tiny.path / "mine", "mine");
  for (const char* name : {"metrics.csv", "summary.json", "checkpoints/last.safetensors.tmp",
                           "checkpoints/previous.safetensors.tmp", "recordings"}) {
    CAPTURE(name);
    const fs::path link = options.out / name;
    fs::remove(link);
    fs::create_symlink(tiny.path / "mine", link);
    CHECK(contains(resume_fault(resumed(options)),
                   link.string() + ": a symbolic link in a run folder is not followed"));
    fs::remove(link);
  }
  CHECK(bytes_of(tiny.path / "mine") == "mine");
}

}  // namespace saccade
