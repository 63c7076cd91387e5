// States in which a kill, a power failure or another process can leave a run folder.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>

#include "agent/learning/checkpoint.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/run_status.h"
#include "experiments/training/study_training.h"
#include "experiments/training/train.h"
#include "tests/experiments/program.h"
#include "tests/experiments/studies.h"

namespace saccade {
namespace {

const char* const kLostFiles[] = {"config.yaml", "command.txt", "meta.json"};

// Does something once: in the update that reaches `episodes`, or when the final test begins.
class DoesOnce final : public Progress {
 public:
  DoesOnce(std::int64_t episodes, std::function<void()> action)
      : episodes_(episodes), action_(std::move(action)) {}

  void update(std::int64_t episodes, double, double) override {
    if (episodes == episodes_) action_();
  }
  ProgressCallback testing() override {
    if (episodes_ == kTest) action_();
    return nullptr;
  }

  static constexpr std::int64_t kTest = -1;

 private:
  const std::int64_t episodes_;
  const std::function<void()> action_;
};

// The message of a training in `out` with this disturbance.
std::string fault_of(const TinyExperiment& tiny, const fs::path& out, DoesOnce disturbance) {
  return message_of<std::runtime_error>([&] {
    const Overrides overrides = {"record.every=64"};
    train(read_config(tiny.yaml, overrides), RunFolder(out), {.threads = 1}, disturbance, false);
  });
}

// Compares the table of a test with its later display, line by line: values that summary.json does
// not keep are blank.
void check_same_table(const std::string& first, const std::string& later) {
  const std::string title = "  test, 150 scenes";
  REQUIRE(contains(first, title));
  REQUIRE(contains(later, title));
  const Names lines = split(first.substr(first.find(title)), '\n');
  const Names shown = split(later.substr(later.find(title)), '\n');
  REQUIRE(shown.size() == lines.size());
  for (std::size_t n = 0; n < lines.size(); ++n) {
    std::string line = shown[n];
    line.resize(lines[n].size(), ' ');
    for (std::size_t i = 0; i < line.size(); ++i)
      if (line[i] == ' ') line[i] = lines[n][i];
    CHECK(line == lines[n]);
  }
  CHECK(shown[1] == lines[1]);
}

}  // namespace

TEST_CASE("a training whose folder is replaced ends without touching the new one") {
  const TinyExperiment tiny;
  const fs::path out = tiny.path / "out", elsewhere = tiny.path / "elsewhere";
  const std::string expected =
      out.string() + ": was removed or replaced while this run was being trained in it";
  for (const std::int64_t at : {std::int64_t{16}, std::int64_t{80}, DoesOnce::kTest}) {
    CAPTURE(at);
    // Another training has started there.
    std::optional<RunLock> other;
    std::map<std::string, std::string> theirs;
    const std::string replaced = fault_of(tiny, out, DoesOnce(at, [&] {
                                            fs::remove_all(out);
                                            other.emplace(out, "another");
                                            put_bytes(out / "metrics.csv", "theirs");
                                            fs::create_directory(out / "checkpoints");
                                            put_bytes(out / kLast, "theirs");
                                            theirs = contents(out);
                                          }));
    CHECK(replaced.starts_with(expected));
    CHECK(contents(out) == theirs);
    CHECK_FALSE(fs::exists(out / "recordings"));
    CHECK(find_holder(out));  // the lock belongs to the other training
    other.reset();
    fs::remove_all(out);

    // If nothing replaced it, a removed folder is not recreated.
    CHECK(fault_of(tiny, out, DoesOnce(at, [&] { fs::remove_all(out); })).starts_with(expected));
    CHECK_FALSE(fs::exists(out));
    std::map<std::string, std::string> moved;
    const auto move_away = [&] {
      fs::rename(out, elsewhere);
      moved = contents(elsewhere);
    };
    CHECK(fault_of(tiny, out, DoesOnce(at, move_away)).starts_with(expected));
    CHECK_FALSE(fs::exists(out));
    CHECK(bytes_of(elsewhere / kLast) == moved.at(kLast));
    fs::remove_all(elsewhere);

    // Without its lock file, another training could start there.
    CHECK(fault_of(tiny, out, DoesOnce(at, [&] { fs::remove(out / kLockFile); }))
              .starts_with(expected));
    fs::remove_all(out);
  }
}

TEST_CASE("the program exits with 1 if its folder is replaced") {
  const TinyExperiment tiny;
  Program program(tiny.path, saccade_words({"run", "tiny.yaml", "--out", "out", "--threads", "1",
                                            "training.episodes=400000000", "log.every=16"}));
  while (!contains(program.read_line(), "valid")) continue;
  fs::rename(tiny.path / "out", tiny.path / "elsewhere");
  const Program::Result result = program.finish();
  CHECK(result.code == 1);
  CHECK(contains(result.err, "saccade: out: was removed or replaced while this run was being "));
  CHECK_FALSE(fs::exists(tiny.path / "out"));
}

TEST_CASE("a run of a study whose folder is replaced fails, without writing to the new one") {
  const TinyStudy tiny("seeds: 1\n");
  class Replaces final : public StudyProgress {
   public:
    explicit Replaces(const fs::path& folder) : folder_(folder) {}
    std::unique_ptr<Progress> begin_run(int, const std::string&, const RunFolder&) override {
      return std::make_unique<DoesOnce>(16, [this] {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        put_bytes(folder_ / "thesis.tex", "everything");
      });
    }
    void end_run(int, const std::string& text, Ending) override { said = text; }
    std::string said;

   private:
    fs::path folder_;
  };
  const fs::path folder = tiny.path / "study" / tiny.runs()[0].folder;
  Replaces replaces(folder);
  const StudyOutcome outcome = train_study(
      tiny.study(), {.folder = tiny.path / "study", .threads = 1, .command = ""}, replaces, false);
  CHECK(outcome.failed == 1);
  CHECK(contains(replaces.said, "was removed or replaced while this run was being trained"));
  CHECK(contents(folder) == std::map<std::string, std::string>{{"thesis.tex", "everything"}});
}

TEST_CASE("a run can start in a folder without a checkpoint, which has nothing to lose") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  const std::string header = bytes_of(whole / "metrics.csv").substr(0, 9);
  const auto begin = [&](const fs::path& out) {
    fs::create_directories(out);
    for (const char* name : kLostFiles) fs::copy(whole / name, out / name);
    put_bytes(out / "metrics.csv", header);
    put_bytes(out / kLockFile, "process 1 on host h, of user u\n");
  };
  const struct {
    const char* what;
    std::function<void(const fs::path&)> leave;
  } states[] = {
      {"killed before the first checkpoint's rename",
       [&](const fs::path& out) {
         begin(out);
         fs::create_directory(out / "checkpoints");
         put_bytes(out / "checkpoints/last.saccade.part.0123abcd.safetensors", "half");
       }},
      {"and then its folder was removed", begin},
      {"killed while its first files were written",
       [&](const fs::path& out) {
         fs::create_directories(out / "checkpoints");
         put_bytes(out / "config.saccade.part.0123abcd.yaml", "name: ti");
       }},
      {"killed while its last ones were",
       [&](const fs::path& out) {
         begin(out);
         fs::create_directory(out / "checkpoints");
         put_bytes(out / "metrics.saccade.part.0123abcd.csv", "epi");
         put_bytes(out / "metrics.saccade.part.0123abcd.jsonl", "");
         put_bytes(out / "metrics.jsonl", "");
         fs::create_directory(out / "recordings");
         put_bytes(out / "recordings/episodes-000.saccade.part.0123abcd.gif", "GIF8");
       }},
      {"killed while it said that it had failed",
       [&](const fs::path& out) {
         fs::create_directories(out);
         put_bytes(out / "failed.saccade.part.0123abcd.txt", "process 1 on");
       }},
  };
  for (const bool resume : {false, true})
    for (const auto& [what, leave] : states) {
      CAPTURE(what);
      CAPTURE(resume);
      RunRequest options = tiny.options("out");
      options.resume = resume;
      leave(options.out);
      CHECK(run(options, false));
      CHECK((bytes_of(options.out / kLast) == bytes_of(whole / kLast)));
      for (const auto& [name, bytes] : contents(options.out)) {
        CAPTURE(name);
        CHECK_FALSE(contains(name, ".part."));
        CHECK_FALSE(contains(name, "before"));
      }
      fs::remove_all(options.out);
    }
}

TEST_CASE("rows of a run without a checkpoint are set aside") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  for (const bool resume : {false, true}) {
    CAPTURE(resume);
    const fs::path out = tiny.path / "out";
    fs::copy(whole, out, fs::copy_options::recursive);
    for (const char* name : {"summary.json", "test.json"}) fs::remove(out / name);
    fs::remove_all(out / "checkpoints");
    put_bytes(out / "metrics.before.csv", "older");
    CommandWords words = {"run", "tiny.yaml", "--out", "out", "--threads", "1"};
    if (resume) words.push_back("--resume");
    const Program::Result result = run_saccade(tiny.path, words);
    CHECK(result.code == 0);
    CHECK(contains(result.out,
                   "out: had no checkpoint to continue from and starts again; its rows are "
                   "in out/metrics.before-2.csv\n"));
    CHECK(bytes_of(out / "metrics.before-2.csv") == bytes_of(whole / "metrics.csv"));
    CHECK(bytes_of(out / "metrics.before.csv") == "older");
    check_same_run(out, whole);
    fs::remove_all(out);
  }
}

TEST_CASE("a folder that may not be a run's is left untouched") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  const auto refused = [&](const std::function<void(const fs::path&)>& change) {
    const fs::path out = tiny.path / "out";
    fs::copy(whole, out, fs::copy_options::recursive);
    change(out);
    const auto before = contents(out);
    CHECK(contains(message_of<InputError>([&] { run(tiny.options("out"), false); }),
                   "out: exists already"));
    CHECK(contents(out) == before);
    fs::remove_all(out);
  };
  // A finished run whose checkpoints were removed to save space.
  refused([](const fs::path& out) { fs::remove_all(out / "checkpoints"); });
  refused([](const fs::path& out) {
    fs::remove(out / "summary.json");
    fs::remove(out / kLast);
    fs::remove(out / kPrevious);  // the best remains
  });
  refused([](const fs::path& out) {  // a configuration alone may belong to anything
    const std::string config = bytes_of(out / "config.yaml");
    fs::remove_all(out);
    fs::create_directory(out);
    put_bytes(out / "config.yaml", config);
  });
  refused([](const fs::path& out) {  // nor started beside a damaged checkpoint
    fs::remove(out / "summary.json");
    for (const std::string& name : {kBest, kPrevious}) fs::remove(out / name);
    fs::rename(out / kLast, out / "checkpoints/damaged.safetensors");
  });
}

TEST_CASE("a study continues after a run was killed while recording its failure") {
  const TinyStudy tiny("seeds: 2\n");
  const fs::path folder = tiny.path / "study" / tiny.runs()[1].folder;
  fs::create_directories(folder);
  put_bytes(folder / "failed.saccade.part.0123abcd.txt", "process 1 on host h");
  put_bytes(folder / kLockFile, "process 1 on host h");
  put_bytes(tiny.path / "study/study.saccade.part.0123abcd.txt", "base/se");
  put_bytes(tiny.path / "study/.lock", "");
  CHECK(run(tiny.options("study"), false));
  CHECK(is_finished(RunFolder(folder)));
  for (const auto& [name, bytes] : contents(tiny.path / "study"))
    CHECK_FALSE(contains(name, ".part."));
}

// After a power failure files that were never synced can be empty or all zeros.
TEST_CASE("lost descriptions of a run are written again") {
  const TinyStudy tiny("seeds: 1\n");
  const fs::path folder = tiny.path / "study" / tiny.runs()[0].folder;
  const auto train_it = [&] {
    StudyProgress nothing;
    const StudyOutcome outcome =
        train_study(tiny.study(), {.folder = tiny.path / "study", .threads = 1, .command = "run"},
                    nothing, false);
    CHECK(outcome.finished.size() == 1);
  };
  train_it();
  const auto whole = contents(folder);
  const std::function<void(const fs::path&)> losses[] = {
      [](const fs::path& file) { put_bytes(file, ""); },
      [](const fs::path& file) { put_bytes(file, std::string(fs::file_size(file), '\0')); },
      [](const fs::path& file) { fs::remove(file); }};
  const auto check_again = [&] {
    for (const char* name : kLostFiles) CHECK(bytes_of(folder / name) == whole.at(name));
    CHECK(status_of(RunFolder(folder)).state == RunStatus::State::done);
    CHECK(read_finished_run(folder).checksums.size() == 4);
  };
  for (const auto& lose : losses)
    for (const bool finished : {false, true}) {
      CAPTURE(finished);
      for (const char* name : kLostFiles) lose(folder / name);
      if (!finished) fs::remove(folder / "summary.json");
      train_it();
      check_again();
    }

  // Refused for another configuration.
  put_bytes(folder / "config.yaml", "");
  put_bytes(tiny.path / "one.yaml", tiny_yaml(tiny.path / "data"));
  RunRequest options = tiny.options("", {"training.learning_rate=0.5"});
  options.config = tiny.path / "one.yaml";
  options.out = folder;
  options.resume = true;
  CHECK(contains(message_of<InputError>([&] { run(options, false); }),
                 "has a finished run with another configuration: training.learning_rate: 0.02 "
                 "there, 0.5 now"));
  CHECK(bytes_of(folder / "config.yaml").empty());
}

TEST_CASE("--resume of a finished run shows its table and reads no data") {
  const TinyExperiment tiny;
  const CommandWords words = {"run", "tiny.yaml", "--out", "out", "--resume", "--threads", "1"};
  const Program::Result first = run_saccade(tiny.path, words);
  REQUIRE(first.code == 0);
  const auto before = contents(tiny.path / "out");
  fs::remove_all(tiny.path / "data");
  const Program::Result again = run_saccade(tiny.path, words);
  check_done(again);
  CHECK(again.out.starts_with("tiny is finished. Its results:"));
  CHECK(contents(tiny.path / "out") == before);

  check_same_table(first.out, again.out);

  check_refused(run_saccade(tiny.path, with(words, {"seed=2"})),
                "out: has a finished run with another configuration: seed: 1 there, 2 now");
}

TEST_CASE("the tables of every kind of answer and look can be shown again") {
  const TinyExperiment tiny;
  const std::vector<Names> agents = {
      {"scene.kind=transcribe", "scene.num_digits=2", "scene.canvas=[13, 40]",
       "scene.num_distractors=0", "decoder.hidden_size=8", "attention.hidden.kind=attend"},
      kSoftGrid,
      {"model.kind=cnn", "model.kernel_size=3", "model.channels=[2, 3]", "model.canvas_hidden=5"}};
  for (const Overrides& overrides : agents) {
    CAPTURE(overrides[0]);
    const CommandWords words =
        with({"run", "tiny.yaml", "--out", "out", "--resume", "--threads", "1"}, overrides);
    const Program::Result first = run_saccade(tiny.path, words);
    REQUIRE(first.code == 0);
    const Program::Result again = run_saccade(tiny.path, words);
    CHECK(again.code == 0);
    check_same_table(first.out, again.out);
    fs::remove_all(tiny.path / "out");
  }
}

}  // namespace saccade
