#include "experiments/analysis/bench.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "experiments/task/task.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

nlohmann::ordered_json bench_tiny(const TinyExperiment& tiny, double seconds, int threads,
                                  const Overrides& overrides = {}) {
  return bench(
      {.config = tiny.yaml, .overrides = overrides, .seconds = seconds, .threads = threads});
}

}  // namespace

TEST_CASE("bench --json has the documented figures, and they are consistent") {
  const TinyExperiment tiny;
  const nlohmann::json figures = bench_tiny(tiny, 0.3, 2);
  std::set<std::string> keys;
  for (const auto& [key, value] : figures.items()) {
    CAPTURE(key);
    keys.insert(key);
    REQUIRE(value.is_number());
    CHECK(std::isfinite(value.get<double>()));
    CHECK(value.get<double>() > 0.0);
  }
  CHECK(keys == std::set<std::string>{"episodes_per_second", "gflop_per_episode", "gflops",
                                      "peak_gflops", "fraction_of_peak", "ceiling_gflops",
                                      "threads", "batch_size", "parameters",
                                      "environment_glimpses_per_second", "peak_memory_mb"});
  const auto figure = [&](const char* key) { return figures.at(key).get<double>(); };
  CHECK(figure("threads") == 2);
  CHECK(figure("gflop_per_episode") ==
        doctest::Approx(Task(read_config(tiny.yaml)).model.gflop_per_episode()));
  CHECK(figure("gflops") ==
        doctest::Approx(figure("episodes_per_second") * figure("gflop_per_episode")));
  CHECK(figure("fraction_of_peak") == doctest::Approx(figure("gflops") / figure("peak_gflops")));
}

TEST_CASE("bench accepts overrides, leaves no files, and prints one line per figure") {
  const TinyExperiment tiny;
  const auto before = contents(tiny.path);
  const Names lines =
      split(bench_table(bench_tiny(tiny, 0.05, 1, {"attention.glimpse.num_glimpses=6"})), '\n');
  REQUIRE(lines.size() == 12);
  CHECK(lines[0].starts_with("episodes_per_second "));
  CHECK(lines[6].starts_with("threads "));
  CHECK(lines[6].ends_with(" 1"));
  CHECK(lines[11].empty());
  const double six_glimpses = std::stod(lines[1].substr(lines[1].rfind(' ')));
  CHECK(six_glimpses > 1.8 * Task(read_config(tiny.yaml)).model.gflop_per_episode());
  CHECK(contents(tiny.path) == before);
}

TEST_CASE("bench --profile accounts for the time of all threads") {
  const TinyExperiment tiny;
  const nlohmann::json profile =
      bench({.config = tiny.yaml, .overrides = {}, .seconds = 0.3, .threads = 2, .profile = true})
          .at("profile");
  double share = 0.0, ms = 0.0;
  std::set<std::string> stages, with_products;
  for (const nlohmann::json& row : profile.at("stages")) {
    CAPTURE(row.dump());
    const auto stage = row.at("stage").get<std::string>();
    stages.insert(stage);
    if (row.contains("gflops")) with_products.insert(stage);
    share += row.at("share").get<double>();
    ms += row.at("ms_per_update").get<double>();
    if (stage != "waiting") CHECK(row.at("share").get<double>() > 0.0);
    CHECK(row.at("share").get<double>() > -0.01);
  }
  CHECK(stages.size() == 9);
  CHECK(with_products == std::set<std::string>{"forward products", "backward products"});
  CHECK(share == doctest::Approx(1.0).epsilon(0.02));
  CHECK(ms == doctest::Approx(2e3 * profile.at("seconds").get<double>() /
                              profile.at("updates").get<double>())
                  .epsilon(0.02));

  const Names lines = split(
      bench_table(bench(
          {.config = tiny.yaml, .overrides = {}, .seconds = 0.05, .threads = 1, .profile = true})),
      '\n');
  REQUIRE(lines.size() == 11 + 1 + 1 + 9 + 1 + 1);  // figures, gap, header, stages, sum, end
  CHECK(lines[12].starts_with("of all threads"));
  CHECK(lines[13].starts_with("scene "));
  CHECK(lines[22].starts_with("together "));
}

TEST_CASE("bench refuses an invalid duration") {
  const TinyExperiment tiny;
  for (const double seconds : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    CAPTURE(seconds);
    CHECK(message_of<InputError>([&] { bench_tiny(tiny, seconds, 1); }) ==
          fmt::format("--seconds {}: allowed: above 0, at most 3600", seconds));
  }
  CHECK(contains(message_of<InputError>([&] { bench_tiny(tiny, 0.1, 1, {"sed=1"}); }),
                 "did you mean 'seed'?"));
}

}  // namespace saccade
