#include "experiments/verbs/bench.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "experiments/task/task.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

std::string bench_tiny(const TinyExperiment& tiny, double seconds, int threads, bool json,
                       const std::vector<std::string>& overrides = {}) {
  return bench({.config = tiny.yaml,
                .overrides = overrides,
                .seconds = seconds,
                .threads = threads,
                .json = json});
}

}  // namespace

TEST_CASE("bench --json has the figures of the issue, and they agree with each other") {
  const TinyExperiment tiny;
  const nlohmann::json figures = nlohmann::json::parse(bench_tiny(tiny, 0.3, 2, true));
  std::set<std::string> keys;
  for (const auto& [key, value] : figures.items()) {
    CAPTURE(key);
    keys.insert(key);
    REQUIRE(value.is_number());
    CHECK(std::isfinite(value.get<double>()));
    CHECK(value.get<double>() > 0.0);
  }
  CHECK(keys == std::set<std::string>{"episodes_per_second", "gflop_per_episode", "gflops",
                                      "peak_gflops", "fraction_of_peak", "threads",
                                      "environment_glimpses_per_second", "peak_memory_mb"});
  const auto figure = [&](const char* key) { return figures.at(key).get<double>(); };
  CHECK(figure("threads") == 2);
  CHECK(figure("gflop_per_episode") ==
        doctest::Approx(Task(read_config(tiny.yaml)).model.gflop_per_episode()));
  CHECK(figure("gflops") ==
        doctest::Approx(figure("episodes_per_second") * figure("gflop_per_episode")));
  CHECK(figure("fraction_of_peak") == doctest::Approx(figure("gflops") / figure("peak_gflops")));
}

TEST_CASE("bench takes overrides, leaves no files, and prints a line a figure") {
  const TinyExperiment tiny;
  const auto before = contents(tiny.path);
  const std::vector<std::string> lines =
      split(bench_tiny(tiny, 0.05, 1, false, {"attention.glimpse.num_glimpses=6"}), '\n');
  REQUIRE(lines.size() == 9);
  CHECK(lines[0].starts_with("episodes_per_second "));
  CHECK(lines[5].starts_with("threads "));
  CHECK(lines[5].ends_with(" 1"));
  CHECK(lines[8].empty());
  const double six_glimpses = std::stod(lines[1].substr(lines[1].rfind(' ')));
  CHECK(six_glimpses > 1.8 * Task(read_config(tiny.yaml)).model.gflop_per_episode());
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("bench refuses a time that is none") {
  const TinyExperiment tiny;
  for (const double seconds : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    CAPTURE(seconds);
    CHECK(message_of<InputError>([&] { bench_tiny(tiny, seconds, 1, true); }) ==
          fmt::format("--seconds {}: allowed: above 0, at most 3600", seconds));
  }
  CHECK(contains(message_of<InputError>([&] { bench_tiny(tiny, 0.1, 1, true, {"sed=1"}); }),
                 "did you mean 'seed'?"));
}

}  // namespace saccade
