// Every kind of looking through every verb, on an experiment that takes milliseconds.
#include <doctest/doctest.h>

#include <opencv2/imgcodecs.hpp>

#include "agent/model.h"
#include "experiments/bench.h"
#include "experiments/eval.h"
#include "experiments/record.h"
#include "tests/experiments/gif.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

std::vector<std::string> every_kind() {
  std::vector<std::string> overrides;
  for (const std::string& kind : glimpse_kinds())
    overrides.push_back("attention.glimpse.kind=" + kind);
  for (const std::string& kind : model_kinds()) overrides.push_back("model.kind=" + kind);
  return overrides;
}

}  // namespace

TEST_CASE("every kind trains, is tested, benchmarked and drawn, and resumes to the same bytes") {
  const TinyExperiment tiny;
  for (const std::string& kind : every_kind()) {
    CAPTURE(kind);
    // A window that sees more than the retina does.
    const std::vector<std::string> overrides = {kind, "attention.glimpse.grid=[2, 3]",
                                                "attention.glimpse.stride=4",
                                                "attention.glimpse.filters=9"};
    const auto folder = tiny.train(kind, overrides);
    const nlohmann::json tested =
        nlohmann::json::parse(eval({.run_folder = folder, .json = true, .threads = 2}));
    CHECK(tested["test/error"] == read_json(folder / "summary.json")["test/error"]);
    CHECK(std::stod(Csv(folder / "metrics.csv").column["train/loss"].back()) > 0.0);

    const nlohmann::json speed = nlohmann::json::parse(bench({.config = tiny.yaml,
                                                              .overrides = overrides,
                                                              .seconds = 0.05,
                                                              .threads = 1,
                                                              .json = true}));
    CHECK(speed["gflop_per_episode"].get<double>() > 0.0);

    const auto sheet = tiny.path / (kind + ".png"), video = tiny.path / (kind + ".gif");
    record({.run_folders = {folder}, .out = sheet, .scenes = 2}, false);
    CHECK(!cv::imread(sheet.string()).empty());
    record({.run_folders = {folder}, .out = video, .scenes = 1}, false);
    CHECK(read_gif(video).frames.size() ==
          (kind.starts_with("model.kind=recurrent") || kind.starts_with("attention")
               ? 5
               : 3));  // mlp and cnn look once

    RunOptions stopped = tiny.options(kind + "-stopped", overrides);
    CHECK(!run(stopped, true));  // after one update
    stopped.resume = true;
    CHECK(run(stopped, false));
    CHECK(bytes_of(stopped.out / kLast) == bytes_of(folder / kLast));
  }
}

}  // namespace saccade
