// saccade compare --tuned-by
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "experiments/comparison/compare.h"
#include "experiments/comparison/gather.h"
#include "experiments/comparison/report_page.h"
#include "experiments/comparison/tables.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"
#include "tests/experiments/unwrapped.h"

namespace saccade {
namespace {

const Names kRate = {"training.learning_rate"};

// Two cores, each with two learning rates and seeds 1 and 2, and their validation errors: rnn was
// better at 0.02, gru at 0.01.
struct TwoTuned : TinyExperiment {
  TwoTuned() {
    for (const int seed : {1, 2}) {
      add("rnn", "0.01", seed, 0.5 + 0.01 * seed);
      add("rnn", "0.02", seed, 0.25 + 0.01 * seed);
      add("gru", "0.01", seed, 0.125 + 0.01 * seed);
      add("gru", "0.02", seed, 0.75 + 0.01 * seed);
    }
  }

  fs::path folder(const std::string& core, const std::string& rate, int seed) const {
    return path / "runs" / core / rate / fmt::format("seed-{}", seed);
  }

  // A run of one update with an invented validation error.
  void add(const std::string& core, const std::string& rate, int seed, double valid_error,
           const Overrides& overrides = {}) const {
    const fs::path run = folder(core, rate, seed);
    train(run.lexically_relative(path).string(),
          with({"training.episodes=16", "model.core=" + core, "training.learning_rate=" + rate,
                fmt::format("seed={}", seed)},
               overrides));
    nlohmann::json summary = read_json(run / "summary.json");
    summary["valid/error"] = valid_error;
    put_bytes(run / "summary.json", summary.dump());
  }

  Comparison gathered(const Names& keys = kRate) const {
    return gather(std::vector{path / "runs"}, keys);
  }
  std::string fault(const Names& keys = kRate) const {
    return message_of<InputError>([&] { gathered(keys); });
  }
};

// Makes the test unreadable.
void spoil_test(const fs::path& folder) {
  nlohmann::json summary = read_json(folder / "summary.json");
  std::erase_if(summary.get_ref<nlohmann::json::object_t&>(), [](const auto& member) {
    return member.first.starts_with("test/") || member.first.starts_with("attention/");
  });
  put_bytes(folder / "summary.json", summary.dump());
  put_bytes(folder / "test.json", "spoilt");
}

}  // namespace

TEST_CASE("tuning: the value with the lowest validation error represents its variant") {
  const TwoTuned tiny;
  const Comparison c = tiny.gathered();
  REQUIRE(c.variants.size() == 2);
  CHECK(c.tuned_by == kRate);
  CHECK(c.differing == Names{"model.core"});
  const Variant &gru = c.variants[0], &rnn = c.variants[1];
  CHECK(gru.label == "gru");
  CHECK(gru.folders == std::vector{tiny.folder("gru", "0.01", 1), tiny.folder("gru", "0.01", 2)});
  CHECK(rnn.folders == std::vector{tiny.folder("rnn", "0.02", 1), tiny.folder("rnn", "0.02", 2)});
  CHECK(rnn.tuning_seeds == std::vector<std::uint64_t>{1, 2});
  REQUIRE(rnn.tries.size() == 2);
  CHECK(rnn.tries[0].values == Names{"0.01"});
  CHECK(rnn.tries[0].valid_error.value == doctest::Approx(0.515));
  CHECK(rnn.tries[0].valid_error.low == doctest::Approx(0.451469));
  CHECK(!rnn.tries[0].chosen);
  CHECK(rnn.tries[1].valid_error.value == doctest::Approx(0.265));
  CHECK(&chosen_try(rnn) == &rnn.tries[1]);
  CHECK(c.left_out.empty());
}

TEST_CASE("tuning: the tests of runs that were not chosen are not read") {
  const TwoTuned tiny;
  const Comparison before = tiny.gathered();
  for (const int seed : {1, 2}) {
    spoil_test(tiny.folder("rnn", "0.01", seed));
    spoil_test(tiny.folder("gru", "0.02", seed));
  }
  CHECK(to_json(tiny.gathered()) == to_json(before));
  // The chosen runs have the same figures as without tuning.
  const Comparison alone =
      gather(std::vector{tiny.path / "runs/gru/0.01", tiny.path / "runs/rnn/0.02"});
  for (const int v : {0, 1}) {
    CHECK(before.variants[v].errors == alone.variants[v].errors);
    CHECK(before.variants[v].mean.high == alone.variants[v].mean.high);
    CHECK(before.variants[v].curve.size() == alone.variants[v].curve.size());
  }
  CHECK(before.variants[1].difference->value == alone.variants[1].difference->value);
  // A required test that cannot be read is reported.
  spoil_test(tiny.folder("rnn", "0.02", 2));
  const Comparison after = tiny.gathered();
  CHECK(after.variants[1].seeds == std::vector<std::uint64_t>{1});
  REQUIRE(after.left_out.size() == 1);
  CHECK(contains(after.left_out[0].reason, "'test/error' is missing"));
}

TEST_CASE("tuning: every table and the page show what was tried and chosen") {
  const TwoTuned tiny;
  const Comparison c = tiny.gathered();
  const std::string said =
      "rnn: of 0.01 (51.50 [45.15, 57.85] %), 0.02 (26.50 [20.15, 32.85] %), by seeds 1, 2: 0.02.";
  for (const std::string& text : {unwrapped(to_table(c)), to_markdown(c)}) {
    check_contains(text, {said, "Tuned by training.learning_rate"});
  }
  check_contains(to_markdown(c), {"| variant | tuned | seeds |", "| rnn | 0.02 | 2 |"});

  put_bytes(tiny.path / "c.csv", to_csv(c));
  const Csv csv(tiny.path / "c.csv");
  CHECK(csv.column.at("training.learning_rate") == Names{"0.01", "0.02"});
  CHECK(csv.column.at("tried")[1].starts_with("0.01: 0.51"));

  const nlohmann::json document = to_json(c);
  CHECK(document["tuned_by"] == nlohmann::json(kRate));
  const nlohmann::json one = document["variants"][1]["tries"][1];
  CHECK(one["chosen"] == true);
  CHECK(one["settings"]["training.learning_rate"] == "0.02");
  CHECK(one["valid/error"].get<double>() == doctest::Approx(0.265));
  CHECK(one["valid/error_high"].get<double>() == doctest::Approx(0.328531));
  CHECK(one["seed"] == nlohmann::json({1, 2}));
  CHECK(one["folders"].size() == 2);

  const std::string page = report_page(c, {}, std::nullopt);
  check_contains(page, {"<h2>What was tried</h2>", "training.<wbr>learning_rate",
                        "26.50 %<small>[20.15, 32.85]</small>", "<strong>chosen</strong>"});
  const std::string untuned = report_page(tiny.gathered({}), {}, std::nullopt);
  CHECK(!contains(untuned, "What was tried"));
  CHECK(!contains(to_table(tiny.gathered({})), "tuned"));
}

TEST_CASE("tuning: tries are compared over the seeds that all of them have") {
  const TwoTuned tiny;
  tiny.add("rnn", "0.02", 3, 0.999);  // one more seed of the chosen one
  const Comparison c = tiny.gathered();
  CHECK(c.variants[1].tuning_seeds == std::vector<std::uint64_t>{1, 2});
  CHECK(chosen_try(c.variants[1]).values == Names{"0.02"});
  CHECK(c.variants[1].seeds == std::vector<std::uint64_t>{1, 2, 3});
  for (const int seed : {1, 2}) fs::remove_all(tiny.folder("rnn", "0.02", seed));
  CHECK(contains(tiny.fault(), "--tuned-by training.learning_rate: no seed is common to"));
}

TEST_CASE("tuning: with several keys every combination is a try") {
  const TwoTuned tiny;
  for (const char* core : {"rnn", "gru"}) tiny.add(core, "0.03", 1, 0.0625, {"training.ema=0.5"});
  const Names keys = {"training.ema", "training.learning_rate"};
  const Comparison c = tiny.gathered(keys);
  CHECK(c.variants.size() == 2);
  CHECK(chosen_try(c.variants[0]).values == Names{"0.5", "0.03"});
  CHECK(contains(unwrapped(to_table(c)), "0.5, 0.03 (6.25 %), by seed 1: 0.5, 0.03."));
}

TEST_CASE("tuning: an unfair comparison is refused with the variants and their tries") {
  const TwoTuned tiny;
  CHECK(tiny.fault({"training.learning_rat"}) ==
        "--tuned-by training.learning_rat: unknown key 'training.learning_rat'; did you mean "
        "'training.learning_rate'?");
  CHECK(contains(tiny.fault({"training"}), "unknown key 'training'; did you mean 'training."));
  CHECK(contains(tiny.fault({kRate[0], kRate[0]}), "training.learning_rate is named twice"));
  CHECK(contains(tiny.fault({"seed"}), "seed names a run or a place"));
  CHECK(contains(tiny.fault({"training.ema"}),
                 "no two runs differ in training.ema; they differ in model.core, "
                 "training.learning_rate"));
  tiny.add("gru", "0.03", 1, 0.5);
  CHECK(tiny.fault() ==
        "--tuned-by training.learning_rate: unequal numbers of tries; allowed: as many for every "
        "variant: gru 3 (0.01, 0.02, 0.03), rnn 2 (0.01, 0.02)");
  fs::remove_all(tiny.path / "runs/rnn/0.02");
  CHECK(contains(tiny.fault(),
                 "rnn was tried with one value alone; allowed: two and more, as many for every "
                 "variant: gru 3 (0.01, 0.02, 0.03), rnn 1 (0.01)"));
  CHECK(!run(tiny.options("runs/rnn/stopped", {"model.core=rnn"}), true));
  check_contains(tiny.fault(), {"; left out: ", "stopped (not finished)"});
}

TEST_CASE("tuning: compare accepts keys separated by commas") {
  const TwoTuned tiny;
  const std::string said =
      to_text(compare({.folders = {tiny.path / "runs"}, .tuned_by = {"training.learning_rate"}}));
  CHECK(contains(unwrapped(said), "by seeds 1, 2: 0.02."));
  check_refused(run_saccade(tiny.path, {"compare", "runs", "--out", "both", "--tuned-by",
                                        "training.learning_rate,training.ema"}),
                "--tuned-by training.learning_rate,training.ema: no two runs differ in");
  CHECK(!fs::exists(tiny.path / "both"));
}

}  // namespace saccade
