// A study in processes of its own: one or several, and what they report meanwhile.
#include <doctest/doctest.h>

#include <set>

#include "experiments/runs/folder_lock.h"
#include "tests/experiments/program.h"
#include "tests/experiments/studies.h"

namespace saccade {
namespace {

const std::string kSixRuns = "vary: {model.core: [rnn, gru]}\nseeds: 3\n";

// Labels of the runs that a program reports as trained by itself: those it found finished have no
// time.
Names trained(const std::string& out) {
  Names labels;
  for (const std::string& line : split(out, '\n')) {
    const std::size_t slash = line.find("/6  "), error = line.find("  error ");
    if (slash == std::string::npos || error == std::string::npos) continue;
    if (line.rfind(':') == std::string::npos) continue;
    labels.push_back(line.substr(slash + 4, error - slash - 4));
  }
  return labels;
}

}  // namespace

TEST_CASE("two processes share a study, and no run is done twice") {
  const TinyStudy tiny(kSixRuns);
  CHECK(run(tiny.options("whole"), false));
  const CommandWords words = saccade_words({"run", "tiny.yaml", "--out", "study", "--jobs", "1"});
  Program one(tiny.path, words);
  CHECK(contains(one.read_line(), "   1/6  "));  // it has started
  Program other(tiny.path, words);
  const Program::Result results[] = {other.finish(), one.finish()};
  Names all = {"rnn, seed 1"};
  for (const Program::Result& result : results) {
    check_done(result);
    for (const std::string& label : trained(result.out)) all.push_back(label);
  }
  CHECK(all.size() == 6);
  CHECK(std::set(all.begin(), all.end()).size() == 6);
  for (const StudyRun& run : tiny.runs())
    check_same_run(tiny.path / "study" / run.folder, tiny.path / "whole" / run.folder);
  CHECK(contains(bytes_of(tiny.path / "study/comparison/compare.md"), "\n| gru | 3 |"));
}

TEST_CASE("a process that finds nothing left to train reports who trains the rest") {
  const TinyStudy tiny("seeds: 2\n");
  CHECK(run(tiny.options("study"), false));
  const fs::path held = tiny.path / "study" / tiny.runs()[1].folder;
  fs::remove_all(held);
  fs::remove_all(tiny.path / "study/comparison");
  const RunLock lock(held, "mine");
  const Program::Result result =
      run_saccade(tiny.path, {"run", "tiny.yaml", "--out", "study", "--jobs", "2"});
  check_done(result);
  CHECK(contains(result.out,
                 fmt::format("1 run is still being trained by process {} on host ", getpid())));
  CHECK_FALSE(fs::exists(tiny.path / "study/comparison"));
}

TEST_CASE("two processes never train the same run") {
  const TinyExperiment tiny;
  Program one(tiny.path, saccade_words({"run", "tiny.yaml", "--out", "out", "evaluation.every=1",
                                        "evaluation.scenes=10000000"}));
  one.read_line();  // it is training
  for (const char* more : {"--quiet", "--resume"}) {
    const Program::Result refused =
        run_saccade(tiny.path, {"run", "tiny.yaml", "--out", "out", more});
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "out: "));
  }
  check_refused(run_saccade(tiny.path, {"run", "tiny.yaml", "--out", "out", "--resume"}),
                "out: is being trained by process ");
}

TEST_CASE("warnings of single runs are shown in a study, with the run's name") {
  const TinyStudy tiny("seeds: 2\n");
  const Program::Result result =
      run_saccade(tiny.path, {"run", "tiny.yaml", "reinforce.reward=gain", "training.episodes=16",
                              "--out", "study", "--jobs", "1", "--threads", "1"});
  check_done(result);
  for (const char* run : {"   1/2  ", "   2/2  "}) {
    const std::size_t warning =
        result.out.find("  warning: reinforce.reward: gain rewards", result.out.find(run));
    REQUIRE(warning != std::string::npos);
    CHECK(result.out.substr(result.out.rfind('\n', warning) + 1).starts_with(run));
  }
}

TEST_CASE("Ctrl-C saves every run in training") {
  const TinyStudy tiny("seeds: 3\n");
  const std::string longer = "training.episodes=1280000";
  const std::vector<StudyRun> runs = tiny.runs({longer});
  Program program(tiny.path,
                  saccade_words({"run", "tiny.yaml", longer, "--out", "study", "--jobs", "2"}));
  const auto begun = [&](int run) {
    return fs::exists(tiny.path / "study" / runs[static_cast<std::size_t>(run)].folder / kLast);
  };
  while (!begun(0) || !begun(1)) usleep(1000);
  program.send(SIGINT);
  const Program::Result result = program.finish();
  CHECK(result.code == 130);
  CHECK(contains(result.err, "stopped and saved; continue with: "));
  CHECK_FALSE(begun(2));
  for (const int run : {0, 1})
    CHECK_FALSE(
        fs::exists(tiny.path / "study" / runs[static_cast<std::size_t>(run)].folder / kLockFile));
}

}  // namespace saccade
