// The trained agents shipped with the program.
#include <doctest/doctest.h>

#include <cmath>

#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/record.h"
#include "experiments/comparison/compare.h"
#include "experiments/files/shipped.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

TEST_CASE("every shipped agent is small, complete, and reproduces its figures") {
  const Names names = shipped_agents();
  CHECK(names.size() >= 5);
  for (const std::string& name : names) {
    CAPTURE(name);
    const RunFolder folder(shipped_agent(name));
    CHECK(find_checkpoint(name) == folder.best_checkpoint());
    CHECK(fs::file_size(folder.best_checkpoint()) < 1'800'000);
    CHECK_FALSE(contains(bytes_of(folder.path() / "command.txt"), " /"));
    const FinishedRun run = read_finished_run(folder.path());
    if (run.config.data.source != "synthetic") continue;  // its dataset may be missing here
    const TestFigures tested = evaluate({.run_folder = name, .on = {.test_scenes = 400}});
    CHECK(std::abs(tested.metrics.at("test/error") - run.error) < 0.06);
  }
}

TEST_CASE("an unknown agent name is reported with the nearest one") {
  const std::string message =
      message_of<InputError>([] { evaluate({.run_folder = "quickstart_sotf"}); });
  check_contains(
      message,
      {"quickstart_sotf: no run folder with a checkpoint", "did you mean 'quickstart_soft'?",
       "trained agents: cluttered100, cluttered60, point60, quickstart, quickstart_soft, "});
}

TEST_CASE("a comparison of an agent by its name does not hide it") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path);
  const CompareRequest request{.folders = {"quickstart"}, .threads = 1};
  compare(request);
  CHECK(fs::exists("comparison/report.html"));
  CHECK_FALSE(fs::exists("quickstart"));
  fs::create_directory("quickstart");
  const std::string message =
      message_of<InputError>([] { evaluate({.run_folder = "quickstart"}); });
  CHECK(
      contains(message, "the trained agent of this name is found where there is no folder of it"));
  CHECK_FALSE(contains(message, "did you mean"));
  fs::current_path(before);
}

TEST_CASE("an agent is recorded by name, into the working folder or a given file") {
  const TemporaryFolder folder;
  RecordRequest options;
  options.run_folders = {"quickstart", "quickstart_soft"};
  options.out = folder.path / "both.png";
  options.scenes = 1;
  CHECK(record(options).path == options.out);
  CHECK(fs::file_size(options.out) > 1000);
}

}  // namespace
}  // namespace saccade
