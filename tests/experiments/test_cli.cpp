// The program itself: exit codes and output streams.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/printable.h"
#include "experiments/commands/command_line.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"
#include "tests/experiments/unwrapped.h"

namespace saccade {
namespace {

using Result = Program::Result;

}  // namespace

TEST_CASE("bad usage is refused with one message and exit code 2") {
  const TinyExperiment tiny;
  const auto before = contents(tiny.path);
  const auto check = [&](const CommandWords& arguments, const std::string& message) {
    check_refused(run_saccade(tiny.path, arguments), message);
  };
  check({"fly"}, "unknown command 'fly'; allowed: run, eval, ");
  check({"help", "fly"}, "unknown command 'fly'; allowed: run, eval, ");
  check({"train", "tiny.yaml"},
        "unknown command 'train'; did you mean 'run'?; allowed: run, eval, ");
  check({"--quiet", "run", "tiny.yaml"}, "The following argument was not expected: --quiet");
  check({"run"}, "config is required");
  check({"eval"}, "run_dir is required");
  check({"run", "tiny.yaml", "--quite"},
        "--quite is not an option of run; did you mean '--quiet'?");
  check({"run", "tiny.yaml", "--seed", "3"},
        "--seed is not an option of run; a setting goes without dashes: seed=...");
  check({"run", "tiny.yaml", "--lr=3"},
        "--lr is not an option of run; a setting goes without dashes: training.learning_rate=...");
  check({"eval", "out", "--xyz"}, "--xyz is not an option of eval; --help");
  check({"recrod"}, "unknown command 'recrod'; did you mean 'record'?; allowed: run, eval, ");
  check({"run", "tiny.yaml", "--threads"}, "--threads: without a value");
  for (const char* jobs : {"0", "-1", "1025", "1e3", "1.0", "many", ""})
    check({"run", "tiny.yaml", "seeds=2", "--jobs", jobs},
          fmt::format("--jobs: '{}'; allowed: an integer from 1 to 1024", jobs));
  check({"run", "tiny.yaml", "--jobs", "2"},
        "--jobs 2: tiny.yaml is a single run; allowed with a study (vary, seeds)");
  check({"run", "tiny.yaml", "--out"}, "--out: without a value");
  check({"eval", "out", "--episodes", "many"}, "--episodes: 'many'; allowed: an integer from ");
  check({"record"}, "run_dirs is required");
  check({"record", "out", "--out", "x.gif", "--only", ""}, "--only: ''; allowed: ");
  for (const char* seed : {"-1", "", "1.5", "1e3"})
    check({"record", "out", "--out", "x.gif", "--seed", seed}, fmt::format("--seed: '{}'", seed));
  check({"compare"}, "folders is required");
  check({"compare", "out", ""}, "folders: ''; allowed: anything but nothing");
  check({"bench", "tiny.yaml", "--seconds", "0"}, "--seconds 0: allowed: ");
  check({"bench", "tiny.yaml", "--seconds", "long"}, "--seconds: 'long'; allowed: a number");
  for (const char* option : {"--stop", "--stop-error", "--stop-looks"})
    for (const char* number : {"", "much", "0.5x"})
      check({"eval", "out", option, number},
            fmt::format("{}: '{}'; allowed: a number", option, number));
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("help works in every spelling and lists every command") {
  const TemporaryFolder folder;
  const auto shown = [&](const CommandWords& words) {
    const Result result = run_saccade(folder.path, words);
    check_done(result);
    return result.out;
  };
  const std::string all = shown({});
  CHECK(shown({"help"}) == all);
  CHECK(shown({"--help"}) == all);
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    check_contains(all, {"\n" + command.group + ":\n", "\n  " + command.name});
    CHECK(contains(shown({"help", command.name}), command.about));
    CHECK(shown({"help", command.name}) == shown({command.name, "--help"}));
  }
  for (const std::string& line : split(all, '\n')) {
    CAPTURE(line);
    CHECK(line.size() < 80);
  }
}

TEST_CASE("bad configurations and data are refused with one message and exit code 2") {
  const TinyExperiment tiny;
  tiny.train("out");
  put_bytes(tiny.path / "bad.yaml", "name: tiny\nsede: 3\n");
  const auto before = contents(tiny.path);
  const auto check = [&](const CommandWords& arguments, const std::string& message) {
    check_refused(run_saccade(tiny.path, arguments), message);
  };
  // Preceded by a warning of settings that another kind does not use.
  const auto check_warned = [&](const CommandWords& arguments, const std::string& message) {
    const Result result = run_saccade(tiny.path, arguments);
    INFO("standard error: " << result.err);
    CHECK(result.code == 2);
    CHECK(contains(result.err, "saccade: " + message));
  };
  for (const char* command : {"run", "bench"}) {
    CAPTURE(command);
    check({command, "none.yaml"}, "none.yaml: cannot be read: No such file or directory");
    check({command, "bad.yaml"}, "bad.yaml:2:1: unknown key 'sede'; did you mean 'seed'?");
    check({command, "tiny.yaml", "seed=x"}, "override 'seed=x': seed: 'x' is not an integer");
    check({command, "tiny.yaml", "data.path=none"}, "none/train-images-idx3-ubyte: missing");
    // Only detected when the task is made.
    check_warned(
        {command, "tiny.yaml", "attention.glimpse.kind=soft_grid", "attention.glimpse.grid=[9, 9]"},
        "attention.glimpse.grid: [9, 9] candidates 6 pixels apart "
        "(attention.glimpse.stride) span 48 pixels; allowed: at most the canvas (13 x 15)");
    check_warned({command, "tiny.yaml", "attention.glimpse.kind=hard_categorical",
                  "attention.glimpse.tiles=[13, 4]"},
                 "attention.glimpse.tiles: [13, 4] do not part a canvas of 13 x 15 pixels");
  }
  check({"run", "tiny.yaml", "--out", "out"}, "out: exists already");
  check({"run", "tiny.yaml", "--out", "tiny.yaml/out"}, "tiny.yaml/out: the folder cannot be made");
  check({"run", "tiny.yaml", "--out", "out", "--resume", "seed=2"},
        "out: has a finished run with another configuration: seed: 1 there, 2 now");
  check({"eval", "data"}, "data: no run folder with a checkpoint");
  check({"record", "data"}, "data: no run folder with a checkpoint");
  check({"record", "out", "--out", "looks.bmp"}, "looks.bmp: ");
  check({"record", "out", "--out", "tiny.yaml/looks.gif"}, "tiny.yaml/looks.gif: ");
  check({"record", "out", "--only", "good"}, "--only good: allowed: wrong, right");
  check({"compare", "data"}, "data: neither a run folder");
  check({"compare", "out", "none"}, "none: no such folder");
  check({"compare", "out", "--tuned-by", "training.rate"},
        "--tuned-by training.rate: unknown key 'training.rate'; did you mean 'training.");
  check({"compare", "out", "--out", "tiny.yaml/c"}, "tiny.yaml/c: the folder cannot be made");
  check({"run", "tiny.yaml", "vary={}"}, "override 'vary={}': vary: an empty study");
  check({"run", "tiny.yaml", "vary={model.core: [rnn, gru]}", "--out", "tiny.yaml"},
        "tiny.yaml: the folder cannot be made");
  check({"bench", "tiny.yaml", "seeds=2"}, "override 'seeds=2': ");
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("without a terminal a run prints plain lines, then the table") {
  const TinyExperiment tiny;
  const Result result = run_saccade(tiny.path, {"run", "tiny.yaml", "evaluation.rollouts=3"});
  check_done(result);
  CHECK_FALSE(contains(result.out, "\x1b"));
  CHECK_FALSE(contains(result.out, "\r"));
  const CommandWords lines = split(result.out, '\n');
  const std::size_t rows = kTinyRows.size();
  REQUIRE(lines.size() == rows + 15);
  CHECK(lines[0].starts_with("tiny: "));  // and two about the data
  for (std::size_t row = 0; row < rows; ++row) {
    CAPTURE(lines[3 + row]);
    CHECK(contains(lines[3 + row], " " + kTinyRows[row] + " episodes "));
    CHECK(contains(lines[3 + row], "  valid ") ==
          (std::ranges::count(kTinyEvaluations, kTinyRows[row]) > 0));
  }
  const Result table = run_saccade(tiny.path, {"eval", lines[rows + 13]});
  check_done(table);
  const std::string first = table.out.substr(0, table.out.find("\n\n") + 1);  // without the curves
  CHECK(contains(result.out, "\n\n" + first + "\n" + lines[rows + 13] + "\n"));
  CHECK(lines[rows + 13] == "runs/tiny/evaluation.rollouts=3/seed-1");
  CHECK(bytes_of(tiny.path / lines[rows + 13] / "command.txt") ==
        saccade_binary() + " run tiny.yaml evaluation.rollouts=3\n");
}

TEST_CASE("a study prints a line per run and one for the whole, then the comparison") {
  const TinyExperiment tiny;
  const CommandWords words = {"run",    "tiny.yaml", "vary={model.core: [rnn, gru]}", "seeds=2",
                              "--jobs", "1"};  // one at a time, so that their order is known
  const Result planned = run_saccade(tiny.path, with(words, {"--dry-run"}));
  check_done(planned);
  CHECK(contains(planned.out, "\n  model.core=gru/seed-2  about "));
  CHECK_FALSE(fs::exists(tiny.path / "runs"));

  const Result result = run_saccade(tiny.path, words);
  check_done(result);
  CHECK_FALSE(contains(result.out, "\r"));
  const CommandWords lines = split(result.out, '\n');
  REQUIRE(lines.size() > 12);
  CHECK(lines[0].starts_with("   1/4  rnn, seed 1  error "));
  CHECK(lines[1].starts_with("tiny: 1 of 4 runs done, "));
  CHECK(lines[6].starts_with("   4/4  gru, seed 2  error "));
  CHECK(lines[7].starts_with("tiny: 4 of 4 runs done, "));
  const auto table = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("  variant "); });
  REQUIRE(lines.end() - table > 2);
  CHECK(table[2].starts_with("  gru "));
  const std::string before = unwrapped(result.out.substr(0, result.out.find("\n  variant ")));
  CHECK(contains(before, ": attention does nothing that "));
  CHECK(lines[lines.size() - 2] ==
        "the report, to open in a browser:  runs/tiny/comparison/report.html");
  CHECK(fs::exists(tiny.path / "runs/tiny/comparison/report.html"));

  // One run fails: the others are still compared, and the program reports it.
  fs::remove_all(tiny.path / "runs/tiny/model.core=rnn/seed-1/checkpoints");
  fs::remove(tiny.path / "runs/tiny/model.core=rnn/seed-1/summary.json");
  const Result failed = run_saccade(tiny.path, words);
  CHECK(failed.code == 1);
  check_contains(failed.out, {"   1/4  rnn, seed 1  failed: ", ", 1 failed"});
  CHECK(failed.err == "saccade: 1 of 4 runs failed; the same command tries them again\n");
}

TEST_CASE("a training too large for the memory is refused before it allocates") {
  const TinyExperiment tiny;
  const Result result =
      run_saccade(tiny.path, with({"run", "tiny.yaml", "--out", "out"},
                                  {"model.hidden_size=8192", "model.feature_size=8192",
                                   "training.batch_size=65536", "training.lane_size=1"}));
  CHECK(result.code == 2);
  check_contains(result.err,
                 {"parameters, trained in 65536 lanes of 1 episodes needs at least ", " GB, and "});
  CHECK_FALSE(fs::exists(tiny.path / "out"));
}

TEST_CASE("--quiet prints nothing except why runs of a study failed") {
  const TinyExperiment tiny;
  const Result result =
      run_saccade(tiny.path, {"run", "tiny.yaml", "--quiet", "--threads", "2", "--out", "out"});
  check_done(result);
  CHECK(result.out == "");
  CHECK(fs::exists(tiny.path / "out/summary.json"));

  const Result study = run_saccade(
      tiny.path, {"run", "tiny.yaml", "--quiet", "seeds=2", "init_from=none", "--out", "study"});
  CHECK(study.code == 1);
  CHECK(study.out == "");
  check_contains(study.err, {"saccade: seed 1: failed: init_from: none: no run folder",
                             "saccade: seed 2: failed: init_from: none: no run folder",
                             "saccade: 2 of 2 runs failed; the same command tries them again\n"});
}

TEST_CASE("--json prints one document") {
  const TinyExperiment tiny;
  tiny.train("out");
  const Result eval = run_saccade(tiny.path, {"eval", "out", "--json"});
  check_done(eval);
  CHECK(nlohmann::json::parse(eval.out).at("test/error") ==
        read_json(tiny.path / "out/summary.json").at("test/error"));
  const Result fewer = run_saccade(tiny.path, {"eval", "out", "--json", "--episodes", "30"});
  CHECK(nlohmann::json::parse(fewer.out).at("test/scenes") == 30);

  const Result bench = run_saccade(
      tiny.path, {"bench", "tiny.yaml", "--json", "--seconds", "0.05", "--threads", "1"});
  check_done(bench);
  CHECK(nlohmann::json::parse(bench.out).at("threads") == 1);
}

TEST_CASE("a failing run exits with 1") {
  const TinyExperiment tiny;
  const Result result = run_saccade(
      tiny.path, {"run", "tiny.yaml", "--quiet", "--out", "out", "training.optimizer=sgd",
                  "training.learning_rate=10", "training.warmup=0", "training.max_grad_norm=0",
                  "reinforce.advantage=learned", "reinforce.baseline_weight=100"});
  CHECK(result.code == 1);
  CHECK(result.out == "");
  CHECK(result.err.starts_with("saccade: update "));
  CHECK(contains(result.err, "; the last good checkpoint is "));
}

TEST_CASE("closed standard streams do not become files of the run") {
  const TinyExperiment tiny;
  tiny.train("whole");
  const std::string run = "exec " + shell_word(saccade_binary()) + " run tiny.yaml --out out";
  const Result closed = Program(tiny.path, {"/bin/sh", "-c", run + " <&- >&- 2>&-"}).finish();
  CHECK(closed.code == 0);
  check_same_run(tiny.path / "out", tiny.path / "whole");
}

TEST_CASE("a failed write to standard output is an error") {
  const TinyExperiment tiny;
  for (const std::string words : {"settings", "presets", "metrics", "config tiny.yaml", "--version",
                                  "--help", "run --help"}) {
    CAPTURE(words);
    const std::string command = shell_word(saccade_binary()) + " " + words + " > /dev/full";
    const Result full = Program(tiny.path, {"/bin/sh", "-c", "exec " + command}).finish();
    CHECK(full.code == 1);
    CHECK(full.err == "saccade: standard output: cannot be written: No space left on device\n");
  }
}

}  // namespace saccade
