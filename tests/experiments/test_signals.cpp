// Signals to the program, and a reader that has gone.
#include <doctest/doctest.h>
#include <signal.h>

#include "base/printable.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

using Result = Program::Result;

// The command that an interrupted run suggests for continuing.
std::string command_to_go_on(const Result& result) {
  const std::string start = "stopped and saved; continue with: ";
  INFO("standard error: " << result.err);
  CHECK(result.code == 130);
  REQUIRE(result.err.starts_with(start));
  REQUIRE(result.err.ends_with(" --resume\n"));
  return result.err.substr(start.size(), result.err.size() - start.size() - 1);
}

}  // namespace

TEST_CASE("Ctrl-C stops a study, and the same command continues it") {
  const TinyExperiment tiny;
  // Prints far more lines than fit in the pipe, which blocks the program until they are read.
  const CommandWords words = {"run", "tiny.yaml", "seeds=60", "training.episodes=32",
                              "evaluation.scenes=8"};
  Program program(tiny.path, saccade_words(words));
  program.read_line();  // the first run is done
  program.send(SIGINT);
  const Result stopped = program.finish();
  CHECK(stopped.code == 130);
  CHECK_FALSE(fs::exists(tiny.path / "runs/tiny/comparison"));
  const Result result = run_saccade(tiny.path, words);
  check_done(result);
  CHECK(contains(result.out, "tiny: 60 of 60 runs done, "));
}

TEST_CASE("Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 save and suggest how to continue, repeatedly") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    CAPTURE(signal);
    const TinyExperiment tiny;
    // Prints far more lines than fit in the pipe, which blocks the program until they are read;
    // contains a space, which must be quoted for a shell.
    const CommandWords overrides = {"training.episodes=12800", "log.every=16",
                                    "evaluation.every=3200", "scene.canvas=[13, 15]"};
    tiny.train("whole", overrides);
    CommandWords words = with(saccade_words({"run", "tiny.yaml", "--out", "out"}), overrides);

    for (int stops = 0; stops < 5; ++stops) {
      CAPTURE(stops);
      Program program(tiny.path, words);
      for (int line = 0; line < 3; ++line) program.read_line();  // model and data
      CHECK(contains(program.read_line(), " episodes "));
      program.send(signal);
      if (signal == SIGUSR1) program.send(SIGTERM);  // which SIGUSR1 announced
      const std::string command = command_to_go_on(program.finish());
      CHECK(fs::exists(tiny.path / "out" / kLast));
      CHECK_FALSE(fs::exists(tiny.path / "out/summary.json"));
      words = {"/bin/sh", "-c", "exec " + command};
    }
    const Result result = Program(tiny.path, words).finish();
    check_done(result);
    CHECK(contains(result.out, "\n  single deterministic pass "));
    check_same_run(tiny.path / "out", tiny.path / "whole");
  }
}

TEST_CASE("a training whose output nobody reads saves as if asked to stop") {
  const TinyExperiment tiny;
  const CommandWords overrides = {"training.episodes=12800", "log.every=16"};
  tiny.train("whole", overrides);
  Program program(tiny.path, with(saccade_words({"run", "tiny.yaml", "--out", "out"}), overrides));
  CHECK(contains(program.read_line(), "tiny: "));
  program.stop_reading();
  const std::string command = command_to_go_on(program.finish());
  check_done(Program(tiny.path, {"/bin/sh", "-c", "exec " + command}).finish());
  CHECK((bytes_of(tiny.path / "out" / kLast) == bytes_of(tiny.path / "whole" / kLast)));
}

TEST_CASE("a training continues if SIGHUP is ignored, as under nohup") {
  const TinyExperiment tiny;
  const std::string command = shell_word(saccade_binary()) +
                              " run tiny.yaml --out out training.episodes=12800 log.every=16";
  Program program(tiny.path, {"/bin/sh", "-c", "trap '' HUP; exec " + command});
  CHECK(contains(program.read_line(), "tiny: "));
  program.send(SIGHUP);
  check_done(program.finish());
}

TEST_CASE("a second signal ends the program at once") {
  const TinyExperiment tiny;
  // The first update is followed by an evaluation of several minutes.
  Program program(tiny.path, saccade_words({"run", "tiny.yaml", "--out", "out",
                                            "evaluation.every=1", "evaluation.scenes=10000000"}));
  program.read_line();    // it is training
  program.send(SIGSTOP);  // so that both signals are pending when it continues
  program.send(SIGINT);
  program.send(SIGTERM);
  program.send(SIGCONT);
  const Result result = program.finish();
  CHECK(result.code == 130);
  CHECK(result.err == "");
  CHECK_FALSE(fs::exists(tiny.path / "out/summary.json"));
}

}  // namespace saccade
