// Every kind of looking through every verb, on an experiment that takes milliseconds.
#include <doctest/doctest.h>

#include <opencv2/imgcodecs.hpp>

#include "agent/cores/core.h"
#include "agent/model.h"
#include "experiments/verbs/bench.h"
#include "experiments/verbs/eval.h"
#include "experiments/verbs/record.h"
#include "tests/experiments/gif.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

struct Kind {
  std::string name;
  std::vector<std::string> overrides;
  int looks = 3;
};

std::vector<Kind> every_kind() {
  std::vector<Kind> kinds;
  const auto add = [&](const std::string& key, const std::string& value, int looks) {
    kinds.push_back({key + "=" + value, {key + "=" + value}, looks});
  };
  for (const std::string& kind : glimpse_kinds())
    add("attention.glimpse.kind", kind, kind == "whole" ? 13 : 3);  // the rows of the canvas
  for (const std::string& kind : model_kinds())
    add("model.kind", kind, kind == "recurrent" ? 3 : 1);
  for (const std::string& kind : core_kinds()) {
    add("model.core", kind, 3);
    kinds.back().overrides.push_back("model.heads=2");
  }
  for (const std::string& kind : hidden_kinds()) add("attention.hidden.kind", kind, 3);
  for (const std::string& kind : input_kinds()) add("attention.input.kind", kind, 3);

  const std::vector<std::string> two = {"scene.canvas=[13, 40]", "scene.num_digits=2",
                                        "attention.hidden.kind=attend"};
  const auto with = [](std::vector<std::string> all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  kinds.push_back({"bag", with(two, {"scene.kind=bag", "scene.num_distractors=0"})});
  kinds.push_back({"transcribe", with(two, {"scene.kind=transcribe", "scene.min_digits=1",
                                            "decoder.hidden_size=5"})});
  kinds.push_back({"catch",
                   {"scene.kind=catch", "scene.canvas=[8, 9]", "attention.glimpse.num_glimpses=7",
                    "scene.num_distractors=0"},
                   7});
  kinds.push_back(
      {"digits_to_words",
       {"scene.kind=digits_to_words", "scene.max_number=999", "decoder.hidden_size=5",
        "attention.glimpse.kind=whole", "attention.hidden.kind=attend", "scene.num_distractors=0"},
       3});
  return kinds;
}

}  // namespace

TEST_CASE("every kind trains, is tested, benchmarked and drawn, and resumes to the same bytes") {
  const TinyExperiment tiny;
  for (const auto& [kind, own, looks] : every_kind()) {
    CAPTURE(kind);
    // A window that sees more than the retina does.
    std::vector<std::string> overrides = {"attention.glimpse.grid=[2, 3]",
                                          "attention.glimpse.stride=4",
                                          "attention.glimpse.filters=9"};
    overrides.insert(overrides.end(), own.begin(), own.end());
    const auto folder = tiny.train(kind, overrides);
    const nlohmann::json tested =
        nlohmann::json::parse(eval({.run_folder = folder, .json = true, .threads = 2}));
    CHECK(tested["test/error"] == read_json(folder / "summary.json")["test/error"]);
    CHECK(std::stod(Csv(folder / "metrics.csv").column["train/classifier_loss"].back()) >= 0.0);

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
    CHECK(static_cast<int>(read_gif(video).frames.size()) == looks + 2);  // two of the verdict

    RunOptions stopped = tiny.options(kind + "-stopped", overrides);
    CHECK(!run(stopped, true));  // after one update
    stopped.resume = true;
    CHECK(run(stopped, false));
    CHECK(bytes_of(stopped.out / kLast) == bytes_of(folder / kLast));
  }
}

}  // namespace saccade
