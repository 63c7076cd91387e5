// Concurrent calls of the library on threads of one process.
#include <doctest/doctest.h>

#include <functional>
#include <thread>

#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/record.h"
#include "experiments/training/run.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

struct Results {
  std::string evaluation, video;
};

// Trains twice, and evaluates and records an existing agent, all into `out`.
std::vector<std::function<void()>> calls(const TinyExperiment& tiny, const fs::path& agent,
                                         const fs::path& out, Results& results) {
  fs::create_directory(tiny.path / out);
  const auto train = [&tiny, out](const std::string& name, const Overrides& overrides) {
    RunRequest options = tiny.options(out / name, overrides);
    options.threads = 2;
    run(options, false);
  };
  return {[train] { train("hard", {}); }, [train] { train("soft", kSoftGrid); },
          [&results, agent] {
            results.evaluation = to_text(
                evaluate({.run_folder = agent, .on = {.test_scenes = 300}, .threads = 2}).table);
          },
          [&results, &tiny, agent, out] {
            record({.run_folders = {agent}, .out = tiny.path / out / "video.gif"});
            results.video = bytes_of(tiny.path / out / "video.gif");
          }};
}

TEST_CASE("concurrent trainings, an evaluation and a recording give the same results as alone") {
  const TinyExperiment tiny;
  const fs::path agent = tiny.train("agent");
  Results alone, together;
  for (const auto& call : calls(tiny, agent, "alone", alone)) call();
  {
    std::vector<std::jthread> threads;
    for (const auto& call : calls(tiny, agent, "together", together)) threads.emplace_back(call);
  }
  for (const std::string run : {"hard", "soft"}) {
    check_same_run(tiny.path / "alone" / run, tiny.path / "together" / run);
  }
  CHECK(alone.evaluation == together.evaluation);
  CHECK((alone.video == together.video));
  CHECK_FALSE(alone.video.empty());
}

}  // namespace
}  // namespace saccade
