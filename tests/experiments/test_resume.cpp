// Interrupted runs: what they resume from, and what they refuse to resume from.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "agent/learning/checkpoint.h"
#include "experiments/training/run.h"
#include "experiments/training/train.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

RunRequest resumed(RunRequest options) {
  options.resume = true;
  return options;
}

// Continues training without a screen; `progress` sets `stop` at some moment.
bool run_until(const RunRequest& options, Progress& progress, const std::atomic<bool>& stop) {
  return train(read_config(options.config, options.overrides), RunFolder(options.out),
               {.resume = options.resume, .threads = 2, .command = options.command}, progress,
               stop);
}

// Stops in the update that reaches `episodes`.
struct StopsAt : Progress {
  explicit StopsAt(std::int64_t episodes) : at(episodes) {}
  void update(std::int64_t episodes, double, double) override { stop = stop || episodes == at; }
  void note(const std::string& text) override { notes += text; }
  std::int64_t at;
  std::string notes;
  std::atomic<bool> stop = false;
};

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

std::string resume_fault(const RunRequest& options) {
  return message_of<InputError>([&] { run(options, false); });
}

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

TEST_CASE("a finished run can be extended to more episodes, and its test is kept") {
  const TinyExperiment tiny;
  const fs::path out = tiny.train("out");
  const std::string summary = bytes_of(out / "summary.json"), test = bytes_of(out / "test.json");
  const Csv rows(out / "metrics.csv");
  CHECK(contains(resume_fault(tiny.options("out", {"training.episodes=384"})), "exists already"));

  const RunRequest longer = resumed(tiny.options("out", {"training.episodes=384"}));
  StopsAt stops(256);
  CHECK_FALSE(run_until(longer, stops, stops.stop));
  CHECK(contains(stops.notes, "continues from 192 episodes to 384 instead of 192: "));
  CHECK(bytes_of(out / "summary.before.json") == summary);
  CHECK(bytes_of(out / "test.before.json") == test);
  CHECK_FALSE(fs::exists(out / "summary.json"));
  CHECK(read_config(out / "config.yaml").agent.training.episodes == 384);
  CHECK(run(longer, false));
  CHECK(read_json(out / "summary.json")["status"] == "finished");
  CHECK(Checkpoint(out / kLast).updates() == 24);
  // The earlier rows are unchanged.
  const Csv all(out / "metrics.csv");
  for (const auto& [name, cells] : rows.column)
    CHECK(std::vector(all.column.at(name).begin(),
                      all.column.at(name).begin() + static_cast<int>(cells.size())) == cells);
  CHECK(all.column.at("episodes").back() == "384");
  // Nothing is left to do now, and a shorter run is refused.
  CHECK(run(longer, false));
  CHECK_FALSE(fs::exists(out / "summary.before-2.json"));
  CHECK(contains(resume_fault(resumed(tiny.options("out"))),
                 "another configuration: training.episodes: 384 there, 192 now"));
}

TEST_CASE("a stopped run can be extended to more episodes, as if configured so") {
  const TinyExperiment tiny;
  const RunRequest options = tiny.options("out");
  StopsAt stops(112);
  CHECK_FALSE(run_until(options, stops, stops.stop));
  const RunRequest longer = resumed(tiny.options("out", {"training.episodes=384"}));
  // If killed before its first checkpoint, it starts again from that of the shorter run.
  const std::string shorter = bytes_of(options.out / kLast);
  StopsAt next(160);
  CHECK_FALSE(run_until(longer, next, next.stop));
  put_bytes(options.out / kLast, shorter);
  CHECK(run(longer, false));
  CHECK(Checkpoint(options.out / kLast).updates() == 24);
}

TEST_CASE("a run that was killed while it was extended does not end as the shorter one") {
  const TinyExperiment tiny;
  const fs::path out = tiny.train("out");
  const auto shorter = contents(out);
  const RunRequest longer = resumed(tiny.options("out", {"training.episodes=384"}));
  struct : StopsAt {
    using StopsAt::StopsAt;
    void note(const std::string&) override {
      if (saved.empty()) saved = Checkpoint(last).config_yaml();
    }
    fs::path last;
    std::string saved;  // before the first update
  } begins{208};
  begins.last = out / kLast;
  CHECK_FALSE(run_until(longer, begins, begins.stop));
  CHECK(parse_config(begins.saved, "last").agent.training.episodes == 384);
  const std::string config = bytes_of(out / "config.yaml");

  // Killed before config.yaml was written: the shorter run is refused, the longer one continues.
  put_bytes(out / "config.yaml", shorter.at("config.yaml"));
  CHECK(contains(resume_fault(resumed(tiny.options("out"))),
                 "was saved with another configuration: training.episodes: 384 there, 192 now"));
  StopsAt next(224);
  CHECK_FALSE(run_until(longer, next, next.stop));
  CHECK(bytes_of(out / "config.yaml") == config);
  CHECK(run(longer, false));
  CHECK(read_json(out / "summary.json")["episodes"] == 384);
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

TEST_CASE("if the last checkpoint is damaged, the previous one is used") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  const std::function<void(std::string&)> damages[] = {
      [](std::string& bytes) { bytes.clear(); },
      [](std::string& bytes) { bytes.resize(bytes.size() - 100); },
      [](std::string& bytes) { bytes[bytes.size() - 100] ^= 1; },
      [](std::string& bytes) { bytes.assign(bytes.size(), '\0'); }};
  for (const auto& damage : damages) {
    const RunRequest options = tiny.options("out");
    for (int n = 0; n < 5; ++n) CHECK_FALSE(run_one_update(n == 0 ? options : resumed(options)));
    const fs::path last = options.out / kLast;
    REQUIRE(Checkpoint(options.out / kPrevious).updates() == 4);
    std::string bytes = bytes_of(last);
    damage(bytes);
    put_bytes(last, bytes);
    const Program::Result result =
        run_saccade(tiny.path, {"run", tiny.yaml.string(), "--resume", "--out", "out"});
    CHECK(result.code == 0);
    check_contains(result.out,
                   {"out/checkpoints/last.safetensors: ",
                    "; continues from out/checkpoints/previous.safetensors, 4 updates\n"});
    CHECK((bytes_of(options.out / "checkpoints/damaged.safetensors") == bytes));
    check_same_run(options.out, whole);
    fs::remove_all(options.out);
  }
}

TEST_CASE("a kill between the two renames of a checkpoint leaves no third file") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  fs::remove(options.out / kPrevious);
  fs::create_hard_link(options.out / kLast, options.out / kPrevious);
  CHECK(run(resumed(options), false));
  CHECK(Checkpoint(options.out / kPrevious).updates() < Checkpoint(options.out / kLast).updates());
  CHECK_FALSE(has_name_beside(options.out / "checkpoints"));
}

TEST_CASE("a last checkpoint of a later version is not skipped, nor are two damaged ones") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  CHECK_FALSE(run_one_update(resumed(options)));
  const fs::path last = options.out / kLast;
  const std::string good = bytes_of(last);
  write_safetensors(last, {}, {{"format", "saccade checkpoint 2"}});
  const auto before = contents(options.out);
  CHECK(contains(resume_fault(resumed(options)), "was written by a later version of this program"));
  CHECK(contents(options.out) == before);

  // Nothing is changed.
  put_bytes(last, "");
  put_bytes(options.out / kPrevious, "");
  CHECK(contains(resume_fault(resumed(options)), "previous.safetensors: no safetensors file"));
  CHECK(bytes_of(last).empty());
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

TEST_CASE("a checkpoint that is truncated, altered or of another model is not resumed") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  fs::remove(options.out / kPrevious);
  options.resume = true;
  const fs::path last = options.out / kLast;
  const std::string good = bytes_of(last);
  const auto check_refused = [&](const std::string& bytes, const std::string& said) {
    CAPTURE(said);
    put_bytes(last, bytes);
    const auto before = contents(options.out);
    const std::string message = resume_fault(options);
    INFO("message: " << message);
    CHECK(message.starts_with(last.string() + ": "));
    CHECK(contains(message, said));
    CHECK(contents(options.out) == before);
  };
  check_refused("", "no safetensors file");
  check_refused(good.substr(0, good.size() - 100), "truncated");
  std::string altered = good;
  altered[good.size() - 100] ^= 1;
  check_refused(altered, "altered: its crc32 is ");
  check_refused(bytes_of(tiny.train("wider", {"model.hidden_size=9"}) / kLast), "hidden_size: 9");

  // This configuration with the tensors of another model.
  {
    const SafetensorsFile other = read_safetensors(tiny.path / "wider" / kLast);
    put_bytes(last, good);
    write_safetensors(tiny.path / "mixed", other.tensors, read_safetensors(last).metadata);
  }
  check_refused(bytes_of(tiny.path / "mixed"), "'core.weight' is (17, 36), but this model has (14");

  put_bytes(last, good);
  CHECK(run(options, false));
}

}  // namespace saccade
