#include "experiments/files/metrics.h"

#include <algorithm>
#include <set>

#include "agent/learning/loss_sums.h"
#include "experiments/analysis/evaluate.h"
#include "experiments/comparison/compare.h"
#include "experiments/comparison/tables.h"
#include "experiments/runs/metrics_file.h"
#include "experiments/runs/training_log.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

// Checks that every metric key of a document is in the table, marked as written there.
void check_keys(const nlohmann::json& document, Written where,
                const std::set<std::string>& words = {}) {
  for (const auto& [key, value] : document.items()) {
    CAPTURE(key);
    if (words.contains(key)) continue;
    REQUIRE(Metric::exists(key));
    CHECK(Metric::named(key).is_written(where));
  }
}

}  // namespace

TEST_CASE("the table of metrics has unique names, each with where it is written") {
  std::set<std::string_view> names;
  for (const MetricFacts& facts : kMetrics) {
    CAPTURE(std::string(facts.name));
    CHECK(names.insert(facts.name).second);
    CHECK(facts.written != 0);
  }
  CHECK_THROWS_AS((void)Metric::named("train/eror"), std::logic_error);
  CHECK(Metric("test/error").low() == Metric("test/error_low"));
  CHECK_THROWS_AS((void)Metric("train/loss").low(), std::logic_error);
}

TEST_CASE("every metric written by a run is in the table of metrics") {
  const TinyExperiment tiny;
  std::set<std::string> columns;
  for (const MetricFacts& facts : kMetrics)
    if ((facts.written & kInMetrics) != 0) columns.insert(std::string(facts.name));
  for (const Overrides& overrides :
       {Names{},
        with(kSoftGrid, {"attention.hidden.kind=mean"}),
        {"scene.kind=catch", "scene.canvas=[8, 9]", "scene.num_distractors=0",
         "attention.glimpse.num_glimpses=7"},
        {"scene.kind=search", "scene.num_digits=3", "scene.num_distractors=0"},
        {"scene.kind=transcribe", "scene.canvas=[13, 40]", "scene.num_digits=2",
         "attention.hidden.kind=attend", "decoder.hidden_size=6"}}) {
    const fs::path folder = tiny.train("run", overrides);
    const Csv metrics(folder / "metrics.csv");
    CHECK(std::set(metrics.columns.begin(), metrics.columns.end()) == columns);
    check_keys(read_json(folder / "summary.json"), kInSummary, {"status"});
    check_keys(read_json(folder / "test.json"), kInDetails, {"class_names"});
    check_keys(to_json(evaluate({.run_folder = folder, .threads = 1})), kInSummary,
               {"test/stopping", "test/search"});
    const nlohmann::json compared = to_json(
        compare({.folders = {folder}, .out = tiny.path / "compared", .force = true}).comparison);
    check_keys(compared.at("variants").at(0), kInCompare,
               {"variant", "seed", "errors", "folders", "settings", "runs",
                "not_clearly_better_than", "test/stopping"});
    fs::remove_all(folder);
  }
}

TEST_CASE("metrics.csv refuses metrics without a column, and ignores unknown columns") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "metrics.csv";
  MetricsFile file(path, 0);
  MetricsRow row;
  row["episodes"] = 16;
  row["valid/error"] = 0.5;
  row["time/elapsed"] = 2;
  file.append(row);
  CHECK(read_metrics(path) == std::vector<MetricsRow>{row});
  row["test/error"] = 0.5;
  CHECK_THROWS_WITH_AS(file.append(row), "test/error is not written in metrics.csv",
                       std::logic_error);
  put_bytes(path, "episodes,of/old,valid/error\n16,3,0.25\n");
  MetricsRow known;
  known["episodes"] = 16;
  known["valid/error"] = 0.25;
  CHECK(read_metrics(path) == std::vector<MetricsRow>{known});
}

TEST_CASE("a metrics.csv is continued after the row of the checkpoint, also beyond 8 digits") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "metrics.csv", lines = folder.path / "metrics.jsonl";
  constexpr std::int64_t kEpisodes = 123'456'768;  // written as 1.2345677e+08
  for (const bool reopened : {false, true}) {
    MetricsFile file(path, reopened ? kEpisodes : -1);
    MetricsLines json(lines, reopened ? kEpisodes : -1);
    MetricsRow row;
    for (const std::int64_t episodes : {kEpisodes, kEpisodes + 256}) {
      row["episodes"] = static_cast<double>(episodes);
      row["time/elapsed"] = static_cast<double>(episodes - kEpisodes) / 128.0;
      if (reopened && episodes == kEpisodes) continue;
      file.append(row);
      json.append(row);
    }
    CHECK(file.elapsed() == 0.0);
    const std::vector<MetricsRow> rows = read_metrics(path);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].at("episodes") == 123'456'770);
    CHECK(rows[1].at("episodes") == 123'457'020);
    CHECK(std::ranges::count(bytes_of(lines), '\n') == 2);
  }
  put_bytes(path, bytes_of(path) + "9,");  // cut off while it was written
  CHECK(MetricsFile(path, kEpisodes + 256).elapsed() == 2.0);
  CHECK(read_metrics(path).size() == 2);
  put_bytes(path, bytes_of(path) + "\n?,0.5\n");  // damaged
  CHECK(MetricsFile(path, kEpisodes + 256).elapsed() == 2.0);
  CHECK(read_metrics(path).size() == 2);
}

TEST_CASE("a metrics.csv of a version with other columns is continued with those of today") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "metrics.csv";
  put_bytes(path,
            "episodes,forgotten,valid/error,time/elapsed\n256,7,0.5,2\n512,8,0.25,4\n768,9,,6\n");
  MetricsFile file(path, 512);
  CHECK(file.elapsed() == 4.0);
  MetricsRow row;
  row["episodes"] = 768;
  row["valid/error"] = 0.125;
  row["time/elapsed"] = 5.0;
  file.append(row);
  const std::vector<ValidPoint> curve = read_curve(path);  // refuses rows of another width
  REQUIRE(curve.size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(curve[i].episodes == 256 * (i + 1));
  CHECK(curve[1].error == 0.25);
  CHECK(curve[1].seconds == 4.0);
  CHECK(bytes_of(path).starts_with(metrics_header()));
}

TEST_CASE("the mean of every loss sum has a column") {
  for (const LossTerm& term : loss_terms()) {
    CAPTURE(term.name);
    if (term.metric == nullptr)
      CHECK(term.sum == &LossSums::episodes);
    else
      CHECK(Metric::named(term.metric).is_written(kInMetrics));
  }
}

}  // namespace saccade
