// Controls of a test in comparisons: the same weights made to look elsewhere.
#include "experiments/comparison/controls.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "experiments/comparison/gather.h"
#include "experiments/comparison/tables.h"
#include "tests/experiments/comparisons.h"
#include "tests/experiments/support.h"
#include "tests/experiments/unwrapped.h"

namespace saccade {
namespace {

struct ThreeErrors {
  double value, low, high;
};

// A run of one update with invented test results in its summary.
struct MadeUpTests : TinyExperiment {
  fs::path add(const std::string& core, int seed, const ThreeErrors& error,
               const std::vector<std::pair<std::string, ThreeErrors>>& controls) const {
    const fs::path run = train(
        fmt::format("{}-{}", core, seed),
        {fmt::format("model.core={}", core), fmt::format("seed={}", seed), "training.episodes=16"});
    nlohmann::json summary = read_json(run / "summary.json");
    for (const Metric metric : kControls) summary.erase(metric.name());
    put(summary, "test/error", error);
    for (const auto& [name, figures] : controls) put(summary, "test/error_" + name, figures);
    put_bytes(run / "summary.json", summary.dump());
    return run;
  }

  static void put(nlohmann::json& summary, const std::string& name, const ThreeErrors& figures) {
    summary[name] = figures.value;
    summary[name + "_low"] = figures.low;
    summary[name + "_high"] = figures.high;
  }
};

Variant with_controls(Variant variant, bool beats_random) {
  variant.controls = {{"test/error_shuffled", around(0.5, 0.01)},
                      {"test/error_center", around(0.4, 0.01)},
                      {"test/error_random", around(0.0301, 0.01), beats_random}};
  return variant;
}

}  // namespace

TEST_CASE("controls are means over seeds, and beaten if each seed's error is clearly below") {
  const MadeUpTests tiny;
  const std::vector<fs::path> runs = {
      tiny.add("rnn", 1, {0.1, 0.0, 1.0},
               {{"shuffled", {0.5, 0.0, 1.0}}, {"center", {0.15, 0.0, 1.0}}}),
      tiny.add("rnn", 2, {0.11, 0.0, 1.0},
               {{"shuffled", {0.52, 0.0, 1.0}}, {"center", {0.35, 0.0, 1.0}}, {"random", {}}})};
  const Variant variant = gather(runs).variants.at(0);
  REQUIRE(variant.controls.size() == 2);  // one run lacks random looks
  const Control &shuffled = variant.controls[0], &center = variant.controls[1];
  CHECK(shuffled.metric == Metric("test/error_shuffled"));
  CHECK(shuffled.error.value == doctest::Approx(0.51));
  CHECK(shuffled.error.known);
  CHECK(shuffled.beaten);  // by 0.40 and 0.41, whatever the intervals over scenes are
  CHECK(center.error.value == doctest::Approx(0.25));
  CHECK_FALSE(center.beaten);  // by 0.05 and 0.24
  CHECK(control_error(variant, "test/error_center")->value == doctest::Approx(0.25));
  CHECK_FALSE(control_error(variant, "test/error_random").has_value());
}

TEST_CASE("seeds that differ from a control by the same are compared over the scenes") {
  const MadeUpTests tiny;
  std::vector<fs::path> runs;
  for (const int seed : {1, 2})
    runs.push_back(tiny.add("rnn", seed, {0.1, 0.05, 0.15},
                            {{"shuffled", {0.5, 0.4, 0.6}}, {"center", {0.12, 0.1, 0.2}}}));
  const Variant variant = gather(runs).variants.at(0);
  REQUIRE(variant.controls.size() == 2);
  CHECK(variant.controls[0].beaten);
  CHECK_FALSE(variant.controls[1].beaten);  // by 0.02 in both
}

TEST_CASE(
    "a control is beaten by the difference of each seed, though the seeds differ among each "
    "other") {
  const MadeUpTests tiny;
  const std::vector<fs::path> runs = {
      tiny.add("rnn", 1, {0.02, 0.0, 1.0}, {{"random", {0.14, 0.0, 1.0}}}),
      tiny.add("rnn", 2, {0.03, 0.0, 1.0}, {{"random", {0.152, 0.0, 1.0}}})};
  const Variant variant = gather(runs).variants.at(0);
  REQUIRE(variant.controls.size() == 1);
  CHECK(variant.mean.high > variant.controls[0].error.low);
  CHECK(variant.controls[0].beaten);
}

TEST_CASE("with a single seed the error is compared with its controls over the draw of scenes") {
  const MadeUpTests tiny;
  const Variant variant = gather(std::vector{tiny.add("rnn", 1, {0.1, 0.08, 0.12},
                                                      {{"shuffled", {0.13, 0.121, 0.14}},
                                                       {"center", {0.13, 0.119, 0.14}},
                                                       {"random", {0.05, 0.04, 0.06}}})})
                              .variants.at(0);
  REQUIRE(variant.controls.size() == 3);
  CHECK(variant.controls[0].beaten);
  CHECK_FALSE(variant.controls[1].beaten);
  CHECK_FALSE(variant.controls[2].beaten);  // has a lower error
  CHECK_FALSE(variant.controls[0].error.known);
}

TEST_CASE("runs whose tests had no controls have none") {
  const MadeUpTests tiny;
  const Comparison c = gather(std::vector{tiny.add("rnn", 1, {0.1, 0.08, 0.12}, {})});
  CHECK(c.variants[0].controls.empty());
  CHECK(idle_attention(c).empty());
  put_bytes(tiny.path / "c.csv", to_csv(c));
  const Csv csv(tiny.path / "c.csv");
  for (const char* name : {"test/error_shuffled", "test/error_center_low", "test/error_random"})
    CHECK(csv.column.at(name)[0].empty());
  CHECK(to_json(c)["variants"][0]["test/error_random"].is_null());
}

TEST_CASE("a variant that does not beat its controls is reported before the table") {
  const Comparison c = made_comparison({with_controls(made_variant("good", 0.02, 5, 4), true),
                                        with_controls(made_variant("idle", 0.03, 5, 4), false)});
  const std::string sentence =
      "idle: attention does nothing that random looks (3.01 %) could not: its error, 3.00 %, is "
      "not clearly less.";
  CHECK(idle_attention(c) == std::vector{sentence});
  const std::string table = to_table(c), head = table.substr(0, table.find("\n\n  variant"));
  CHECK(unwrapped(head).ends_with(sentence));
  for (std::istringstream lines(table); lines;) {
    std::string line;
    std::getline(lines, line);
    CAPTURE(line);
    CHECK(line.size() < 80);
  }
  CHECK(contains(to_markdown(c), "\n\n**" + sentence + "**\n\n| variant"));
  for (const std::string& text : {to_table(c), to_markdown(c)}) {
    for (const char* title : {"shuffled %", "centre %", "random %"}) CHECK(contains(text, title));
    for (const char* error : {"50.00", "40.00", "3.01"}) CHECK(contains(text, error));
  }
  const nlohmann::json variants = to_json(c).at("variants");
  CHECK(variants[0]["not_clearly_better_than"] == nlohmann::json::array());
  CHECK(variants[1]["not_clearly_better_than"] == nlohmann::json{"test/error_random"});
  CHECK(variants[1]["test/error_shuffled"] == 0.5);
  CHECK(variants[1]["test/error_shuffled_low"] == 0.49);
}

TEST_CASE("several controls that are not beaten are reported together") {
  Variant variant = with_controls(made_variant("idle", 0.03, 5, 4), false);
  variant.controls[1].beaten = false;
  const auto sentences = idle_attention(made_comparison({variant}));
  REQUIRE(sentences.size() == 1);
  CHECK(
      contains(sentences[0], "looks at the centre (40.00 %) and random looks (3.01 %) could not"));
}

TEST_CASE("a comparison is named after its runs if they share a name") {
  const TinyExperiment tiny;
  tiny.train("a", {"name=same", "training.episodes=16"});
  tiny.train("b", {"name=same", "model.core=gru", "training.episodes=16"});
  tiny.train("c", {"name=other", "model.core=rnn", "training.episodes=16"});
  const auto name = [&](const Names& folders) {
    std::vector<fs::path> paths;
    for (const std::string& folder : folders) paths.push_back(tiny.path / folder);
    return gather(paths).name;
  };
  CHECK(name({"a", "b"}) == "same");
  CHECK(name({"a", "c"}).empty());
}

}  // namespace saccade
