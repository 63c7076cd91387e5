#include "experiments/comparison/compare.h"

#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "experiments/comparison/gather.h"
#include "experiments/comparison/statistics.h"
#include "experiments/comparison/tables.h"
#include "experiments/comparison/verdict.h"
#include "experiments/evaluation/stopping.h"
#include "tests/experiments/support.h"
#include "tests/experiments/unwrapped.h"

namespace saccade {
namespace {

// Two variants with two seeds each, plus what a test adds.
struct TwoVariants : TinyExperiment {
  TwoVariants() {
    for (const char* core : {"rnn", "gru"})
      for (const char* seed : {"1", "2"})
        train(fmt::format("runs/{}/seed-{}", core, seed),
              {fmt::format("model.core={}", core), fmt::format("seed={}", seed)});
  }

  Comparison gathered(const Names& folders) const {
    std::vector<fs::path> paths;
    for (const std::string& folder : folders) paths.push_back(path / folder);
    return gather(paths);
  }
  std::string fault(const Names& folders) const {
    return message_of<InputError>([&] { gathered(folders); });
  }
  double figure(const std::string& folder, const std::string& metric) const {
    return read_json(path / folder / "summary.json")[metric];
  }
};

void rewrite(const fs::path& path, const std::string& key, const nlohmann::json& value) {
  nlohmann::json document = read_json(path);
  document[key] = value;
  put_bytes(path, document.dump());
}

}  // namespace

TEST_CASE("runs are grouped by variant and compared with the first one by seed") {
  const TwoVariants tiny;
  const char* const folders[] = {"runs/rnn/seed-1", "runs/rnn/seed-2", "runs/gru/seed-1",
                                 "runs/gru/seed-2"};
  const double errors[] = {0.2, 0.4, 0.1, 0.25};
  for (int i = 0; i < 4; ++i)
    rewrite(tiny.path / folders[i] / "summary.json", "test/error", errors[i]);

  const Comparison c = tiny.gathered({"runs/rnn", "runs/gru"});
  REQUIRE(c.variants.size() == 2);
  CHECK(c.differing == Names{"model.core"});
  CHECK(c.scenes == 150);
  const Variant &rnn = c.variants[0], &gru = c.variants[1];
  CHECK(rnn.label == "rnn");
  CHECK(gru.label == "gru");
  CHECK(gru.settings == Names{"gru"});
  CHECK(gru.seeds == std::vector<std::uint64_t>{1, 2});
  CHECK(gru.errors == std::vector<double>{0.1, 0.25});
  CHECK(rnn.mean.value == doctest::Approx(0.3));
  CHECK(rnn.mean.low == 0.0);
  CHECK(rnn.mean.high == 1.0);
  CHECK(!rnn.difference.has_value());
  CHECK(!gru.difference_over_scenes.has_value());
  CHECK(gru.errors_over_scenes.size() == 2);
  REQUIRE(gru.difference.has_value());
  CHECK(gru.difference->value == doctest::Approx(-0.125));  // of -0.1 and -0.15
  CHECK(gru.difference->low == doctest::Approx(-0.442655));
  CHECK(gru.improvement->value == 0.75);

  CHECK(gru.num_glimpses == 3);
  CHECK(gru.curve.size() == kTinyEvaluations.size());
  CHECK(gru.curve[1].episodes == 128.0);
  REQUIRE(gru.run_curves.size() == 2);
  CHECK(gru.curve[1].error.value ==
        doctest::Approx(0.5 * (gru.run_curves[0][1] + gru.run_curves[1][1])));
  CHECK(gru.error_by_glimpse.size() == 3);
  CHECK(gru.on_target_by_glimpse.size() == 3);
  CHECK(gru.confusion.classes == 3);
  CHECK(gru.look_map.rows == 13);
  CHECK(gru.look_map.cols == 15);
  CHECK(gru.canvas_pixels == 3 * 8 * 8);  // three looks, the coarse scale is 8 x 8
  CHECK(gru.gflop_per_episode > rnn.gflop_per_episode);
  CHECK(gru.on_target.value ==
        doctest::Approx(0.5 * (tiny.figure("runs/gru/seed-1", "attention/on_target") +
                               tiny.figure("runs/gru/seed-2", "attention/on_target"))));
}

TEST_CASE("differences are taken over the seeds that both variants have") {
  const TinyExperiment tiny;
  const auto train = [&](const char* core, int seed, double error) {
    const auto folder = tiny.train(
        fmt::format("{}-{}", core, seed),
        {fmt::format("model.core={}", core), fmt::format("seed={}", seed), "training.episodes=16"});
    rewrite(folder / "summary.json", "test/error", error);
    return folder;
  };
  const std::vector<fs::path> runs = {train("rnn", 1, 0.5), train("rnn", 2, 0.25),
                                      train("gru", 3, 0.75), train("gru", 2, 0.125)};
  const Comparison means = gather(runs);
  CHECK(means.variants[1].seeds == std::vector<std::uint64_t>{2, 3});
  // A single pair says less than the two means.
  REQUIRE(means.variants[1].difference.has_value());
  CHECK(means.variants[1].difference->value == doctest::Approx(0.4375 - 0.375));
  CHECK(means.variants[1].difference->known);
  CHECK(to_json(means).at("variants")[1].at("difference_low").is_number());
  CHECK(!means.variants[1].difference_over_scenes);
  CHECK(contains(verdict(means)[0], "over 2 seeds and 2 others"));
  CHECK(means.variants[1].improvement->known);

  const Comparison c = gather(std::vector{runs[0], runs[1], runs[3]});
  CHECK(c.variants[1].difference->value == -0.125);
  CHECK(!c.variants[1].difference->known);  // of a single pair
  // Instead of an interval over seeds there is one over scenes, for the common seed.
  REQUIRE(c.variants[1].difference_over_scenes.has_value());
  CHECK(c.variants[1].difference_over_scenes->known);
  CHECK(c.variants[1].difference_over_scenes->value == -0.125);
  const Comparison apart = gather(std::vector{runs[0], runs[2]});
  CHECK(apart.variants[1].difference_over_scenes->value == 0.25);  // of the only runs
  CHECK(apart.variants[1].difference->value == 0.25);
  CHECK(!apart.variants[1].difference->known);
}

TEST_CASE("two seeds that differ by the same are not certain") {
  const TwoVariants tiny;
  const auto verdict_of = [&](double rnn1, double rnn2, double gru1, double gru2) {
    const std::pair<const char*, double> errors[] = {
        {"rnn/seed-1", rnn1}, {"rnn/seed-2", rnn2}, {"gru/seed-1", gru1}, {"gru/seed-2", gru2}};
    for (const auto& [folder, error] : errors)
      rewrite(tiny.path / "runs" / folder / "summary.json", "test/error", error);
    const Comparison c = tiny.gathered({"runs/rnn", "runs/gru"});
    CHECK(!c.variants[1].difference_over_scenes.has_value());
    return verdict(c).at(0);
  };
  CHECK(verdict_of(0.31, 0.21, 0.30, 0.20) ==
        "Whether rnn or gru is better is not known: there is no interval of the difference.");
  CHECK(contains(verdict_of(0.31, 0.21, 0.30, 0.2001), "gru is better than rnn"));
}

TEST_CASE("runs are in study order, others are sorted by name and number") {
  const TemporaryFolder folder;
  for (const char* run :
       {"base/seed-10", "base/seed-2", "a=1/seed-1", "a=10/seed-1", "a=9/seed-1"}) {
    fs::create_directories(folder.path / run);
    put_bytes(folder.path / run / "config.yaml", "");
  }
  const auto found = [&] {
    Names names;
    for (const fs::path& path : find_runs(folder.path))
      names.push_back(path.lexically_relative(folder.path).string());
    return names;
  };
  CHECK(found() == Names{"base/seed-2", "base/seed-10", "a=1/seed-1", "a=9/seed-1", "a=10/seed-1"});
  put_bytes(folder.path / kStudyFile, "a=9/seed-1\nbase/seed-10\na=9/seed-2\n");
  CHECK(found() == Names{"a=9/seed-1", "base/seed-10", "a=9/seed-2", "base/seed-2", "a=1/seed-1",
                         "a=10/seed-1"});

  // Links below the folder are passed over, listed or not; the folder itself may be one.
  const TemporaryFolder elsewhere;
  fs::create_directories(elsewhere.path / "run");
  put_bytes(elsewhere.path / "run/config.yaml", "");
  fs::create_directory_symlink(elsewhere.path, folder.path / "linked");
  fs::create_directory_symlink(folder.path, folder.path / "base/round");
  CHECK(found().size() == 6);
  put_bytes(folder.path / kStudyFile, "linked/run\na=9/seed-2\n");
  CHECK(found().size() == 6);
  CHECK(found()[0] == "a=9/seed-2");
  CHECK(find_runs(folder.path / "linked") == std::vector<fs::path>{folder.path / "linked/run"});
}

TEST_CASE("the kept details of a test agree with its figures") {
  const TrainedTiny tiny;
  const nlohmann::json details = read_json(tiny.run / "test.json");
  const nlohmann::json summary = read_json(tiny.run / "summary.json");
  const std::vector<double> by_glimpse = details["test/error_by_glimpse"];
  CHECK(by_glimpse.back() == doctest::Approx(summary["test/error"].get<double>()));
  const std::vector<double> counts = details["test/confusion"];
  double all = 0.0, right = 0.0;
  for (int row = 0; row < 3; ++row)
    for (int col = 0; col < 3; ++col) {
      all += counts[3 * row + col];
      right += row == col ? counts[3 * row + col] : 0.0;
    }
  CHECK(all == 150.0);
  CHECK(1.0 - right / all == doctest::Approx(summary["test/error"].get<double>()));
  // A look of 4 x 4 pixels within 13 x 15 covers at most 16 pixels with weight 1.
  double weight = 0.0;
  for (const double w : details["attention/look_map"]["weights"]) weight += w;
  CHECK(weight > 4.0);
  CHECK(weight <= 16.0 + 1e-4);
}

TEST_CASE("a comparison stops each run at the threshold of its own validation scenes") {
  const TwoVariants tiny;
  const auto chosen = [&](const Variant& variant, const StopTarget& target) {
    std::vector<double> errors, thresholds;
    for (const fs::path& folder : variant.folders) {
      const StopCurves curves = *read_finished_run(folder).stopping;
      const std::size_t k = chosen_threshold(curves, target);
      thresholds.push_back(curves.thresholds[k]);
      errors.push_back(curves.test[k].error.value);
    }
    CHECK(variant.stopping->chosen == thresholds);
    return estimate_share(errors);
  };
  for (const StopTarget& target : {StopTarget{}, StopTarget{.looks = 1.5}}) {
    const Comparison c = gather(std::vector{tiny.path / "runs"}, {}, nullptr, target);
    for (const Variant& variant : c.variants) {
      REQUIRE(variant.stopping);
      const Estimate expected = chosen(variant, target), &found = variant.stopping->stopped.error;
      CHECK(found.value == expected.value);
      CHECK(found.low == expected.low);
      CHECK(found.known);
      CHECK(!variant.stopping->over_scenes);
      CHECK(variant.stopping->always.size() == 3);
    }
    for (const std::string& text : {unwrapped(to_table(c)), to_markdown(c)})
      check_contains(text, {"stops %", " of 3", "Stops: the error of an agent"});
    const nlohmann::json variant = to_json(c).at("variants")[0];
    CHECK(variant.at("test/stopped_error") == c.variants[0].stopping->stopped.error.value);
    CHECK(variant.at("test/stopping").at("test").at("looks").size() ==
          variant.at("test/stopping").at("thresholds").size());
  }
  const std::string unreachable = message_of<InputError>(
      [&] { gather(std::vector{tiny.path / "runs"}, {}, nullptr, {.error = 0.0}); });
  CHECK(contains(unreachable, "--stop-error 0: no threshold has so little error"));
}

TEST_CASE("runs that did not keep how they stop are measured, and others have nothing of it") {
  const TrainedTiny tiny;
  const StopCurves kept = *read_finished_run(tiny.run).stopping;
  nlohmann::json details = read_json(tiny.run / "test.json");
  details.erase("test/stopping");
  put_bytes(tiny.run / "test.json", details.dump());
  CHECK(!gather(std::vector{tiny.run}).variants[0].stopping);
  const ComparedRuns compared = compare({.folders = {tiny.run}, .out = tiny.path / "c"});
  const Stopping& measured = compared.comparison.variants[0].stopping.value();
  CHECK(measured.over_scenes);
  for (std::size_t k = 0; k < kept.test.size(); ++k) {
    CHECK(measured.curve[k].error.value == doctest::Approx(kept.test[k].error.value));
    CHECK(measured.curve[k].looks.high == doctest::Approx(kept.test[k].looks.high));
  }
  CHECK(fs::exists(tiny.path / "c/charts/stopping_1.png"));

  fs::remove_all(tiny.run / "checkpoints");
  const ComparedRuns without =
      compare({.folders = {tiny.run}, .out = tiny.path / "c", .force = true});
  CHECK(!without.comparison.variants[0].stopping);
  CHECK(contains(without.comparison.left_out[0].reason, "stopping when sure: "));

  const fs::path once = tiny.train("once", {"attention.glimpse.num_glimpses=1"});
  const Comparison c = gather(std::vector{once});
  CHECK(!c.variants[0].stopping);
  CHECK(to_json(c).at("variants")[0].at("test/looks").is_null());
  CHECK(message_of<InputError>([&] { gather(std::vector{once}, {}, nullptr, {.looks = 2.0}); }) ==
        "--stop-looks 2: no agent may stop; allowed: with agents that answer one class after "
        "several looks, or a sequence with attention.glimpse.stop");
}

TEST_CASE("runs that cannot be compared are listed and left out") {
  const TwoVariants tiny;
  tiny.train("runs/other/scenes", {"evaluation.scenes=100"});
  tiny.train("runs/other/seed", {"evaluation.seed=5"});
  tiny.train("runs/other/twin", {"model.core=gru", "seed=2", "name=elsewhere"});
  CHECK(!run(tiny.options("runs/stopped", {"seed=9"}), true));
  const Comparison c = tiny.gathered({"runs"});
  CHECK(c.variants.size() == 2);
  REQUIRE(c.left_out.size() == 4);
  const auto reason = [&](const std::string& folder) {
    for (const LeftOut& out : c.left_out)
      if (out.folder == tiny.path / folder) return out.reason;
    return std::string("compared");
  };
  CHECK(contains(reason("runs/other/scenes"), "evaluation.scenes is 150 and 100 (there: "));
  CHECK(contains(reason("runs/other/seed"), "evaluation.seed is 777 and 5"));
  CHECK(contains(reason("runs/other/twin"), "same configuration and seed as"));
  CHECK(reason("runs/stopped") == "not finished");
  for (const std::string& text : {unwrapped(to_table(c)), to_markdown(c), to_json(c).dump()})
    CHECK(contains(text, "evaluation.scenes is 150 and 100"));
}

TEST_CASE("runs with other data are left out") {
  const TinyExperiment tiny;
  tiny.train("first", {"seed=1"});
  write_digits(tiny.path / "data", 41);
  tiny.train("second", {"seed=2"});
  const std::string fault = message_of<InputError>([&] {
    gather(std::vector{tiny.path / "first", tiny.path / "second"});
  });
  check_contains(fault, {"mixed tasks", "checksums of the data differ"});
}

TEST_CASE("variant labels are as short as possible while distinct") {
  const TinyExperiment tiny;
  tiny.train("a", {"name=first"});
  tiny.train("b", {"name=second", "model.core=rnn"});
  CHECK(gather(std::vector{tiny.path / "a", tiny.path / "b"}).variants[1].label == "second");
  tiny.train("c", {"attention.glimpse.num_glimpses=2", "attention.glimpse.std=0.2"});
  tiny.train("d", {"attention.glimpse.num_glimpses=2", "attention.glimpse.std=0.3"});
  const Comparison c = gather(std::vector{tiny.path / "c", tiny.path / "d"});
  CHECK(c.variants[0].label == "std 0.2");
}

TEST_CASE("a single seed has an interval over scenes instead of seeds, and every table says so") {
  const TinyExperiment tiny;
  tiny.train("one");
  const Comparison c = gather(std::vector{tiny.path / "one"});
  CHECK(!c.variants[0].mean.known);
  const nlohmann::json summary = read_json(tiny.path / "one/summary.json");
  const Estimate over_scenes = error_over_scenes(c.variants[0]).value();
  CHECK(over_scenes.value == summary["test/error"]);
  CHECK(over_scenes.low == summary["test/error_low"]);
  CHECK(over_scenes.high == summary["test/error_high"]);
  CHECK(contains(to_table(c), "tiny: one seed: no interval"));
  CHECK(contains(to_markdown(c), "tiny: one seed: no interval"));
  const Csv csv = [&] {
    put_bytes(tiny.path / "c.csv", to_csv(c));
    return Csv(tiny.path / "c.csv");
  }();
  CHECK(csv.column.at("test/error_low")[0].empty());
  CHECK(!csv.column.at("test/error")[0].empty());
  CHECK(to_json(c)["variants"][0]["test/error_low"].is_null());
}

// The curve of a run that was extended has a point where it was to end before.
TEST_CASE("learning curves are averaged where all runs have points") {
  const TinyExperiment tiny;
  RunRequest first = tiny.options("one", {"training.episodes=80"});
  CHECK(run(first, false));
  first.overrides = {"training.episodes=160"};
  first.resume = true;
  CHECK(run(first, false));
  const fs::path one = first.out, two = tiny.train("two", {"training.episodes=160", "seed=2"});
  const auto error_at = [](const fs::path& folder, double episodes) {
    for (const ValidPoint& point : read_curve(folder / "metrics.csv"))
      if (point.episodes == episodes) return point.error;
    return -1.0;
  };
  REQUIRE(read_curve(one / "metrics.csv").size() == 4);  // 64, 80, 128, 160
  const Variant variant = gather(std::vector{one, two}).variants.at(0);
  REQUIRE(variant.curve.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const double episodes = variant.curve[i].episodes;
    CHECK(episodes == std::array{64.0, 128.0, 160.0}[i]);
    CHECK(variant.run_curves[0][i] == error_at(one, episodes));
    CHECK(variant.run_curves[1][i] == error_at(two, episodes));
    CHECK(variant.curve[i].error.value ==
          doctest::Approx(0.5 * (error_at(one, episodes) + error_at(two, episodes))));
  }
}

TEST_CASE("folders without runs are refused") {
  const TinyExperiment tiny;
  const auto fault = [&](const std::string& folder) {
    return message_of<InputError>([&] { gather(std::vector{tiny.path / folder}); });
  };
  CHECK(contains(fault("none"), "no such folder"));
  CHECK(contains(fault("data"), "neither a run folder"));
  CHECK(!run(tiny.options("stopped"), true));
  CHECK(contains(fault("stopped"), "no run is finished"));
  put_bytes(tiny.train("broken") / "summary.json", R"({"status": "finished"})");
  CHECK(contains(fault("broken"), "'valid/error' is missing"));
}

}  // namespace saccade
