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

namespace fs = std::filesystem;

const std::vector<std::string> kSoftGrid = {"attention.glimpse.kind=soft_grid",
                                            "attention.glimpse.grid=[2, 3]",
                                            "attention.glimpse.stride=4"};

struct Said {
  std::string evaluation, film;
};

// Trains twice, and evaluates and records an existing agent, all into `out`.
std::vector<std::function<void()>> calls(const TinyExperiment& tiny, const fs::path& agent,
                                         const fs::path& out, Said& said) {
  fs::create_directory(tiny.path / out);
  const auto train = [&tiny, out](const std::string& name,
                                  const std::vector<std::string>& overrides) {
    RunRequest options = tiny.options(out / name, overrides);
    options.threads = 2;
    run(options, false);
  };
  return {[train] { train("hard", {}); }, [train] { train("soft", kSoftGrid); },
          [&said, agent] {
            said.evaluation =
                to_text(evaluate({.run_folder = agent, .scenes = 300, .threads = 2}).table);
          },
          [&said, &tiny, agent, out] {
            record({.run_folders = {agent}, .out = tiny.path / out / "film.gif"});
            said.film = bytes_of(tiny.path / out / "film.gif");
          }};
}

TEST_CASE("concurrent trainings, an evaluation and a recording give the same results as alone") {
  const TinyExperiment tiny;
  const fs::path agent = tiny.train("agent");
  Said alone, together;
  for (const auto& call : calls(tiny, agent, "alone", alone)) call();
  {
    std::vector<std::jthread> threads;
    for (const auto& call : calls(tiny, agent, "together", together)) threads.emplace_back(call);
  }
  for (const std::string run : {"hard", "soft"}) {
    CAPTURE(run);
    const fs::path one = tiny.path / "alone" / run, other = tiny.path / "together" / run;
    CHECK((bytes_of(one / kLast) == bytes_of(other / kLast)));
    CHECK((bytes_of(one / kBest) == bytes_of(other / kBest)));
    CHECK((bytes_of(one / "test.json") == bytes_of(other / "test.json")));
    CHECK(without_times(Csv(one / "metrics.csv")) == without_times(Csv(other / "metrics.csv")));
  }
  CHECK(alone.evaluation == together.evaluation);
  CHECK((alone.film == together.film));
  CHECK_FALSE(alone.film.empty());
}

}  // namespace
}  // namespace saccade
