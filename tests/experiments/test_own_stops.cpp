// Agents that stop looking by themselves: everything is counted to their stop.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "agent/answering/stopping.h"
#include "experiments/analysis/evaluate.h"
#include "experiments/comparison/compare.h"
#include "experiments/comparison/gather.h"
#include "experiments/evaluation/play.h"
#include "experiments/evaluation/stopping.h"
#include "experiments/evaluation/tally.h"
#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/finished_run.h"
#include "tests/experiments/program.h"
#include "tests/experiments/tiny_task.h"

namespace saccade {
namespace {

// An agent that stops, with a threshold at which some of the tiny scenes stop early and others do
// not.
struct StoppingAgent {
  std::string name;
  std::string stop;
  double threshold;
  Overrides overrides;
  bool reads = false;  // answers a sequence
};

const Overrides kReading = {"scene.kind=transcribe", "scene.canvas=[13, 30]", "scene.num_digits=2",
                            "scene.num_distractors=0"};

// Every kind of stop, of agents that answer one class and of some that answer a sequence, which is
// less probable.
std::vector<StoppingAgent> stopping_agents() {
  std::vector<StoppingAgent> all;
  for (const std::string& stop : stop_kinds()) {
    const StopKind& kind = find_stop_kind(stop);
    if (!kind.stops) continue;
    for (const bool reads : {false, true}) {
      const double threshold = reads && !kind.learned() ? 0.02 : 0.4;
      const Overrides stops = {"attention.glimpse.stop=" + stop,
                               fmt::format("attention.glimpse.stop_threshold={}", threshold)};
      all.push_back({stop + (reads ? "-reader" : ""), stop, threshold,
                     reads ? with(kReading, stops) : stops, reads});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("an evaluation counts the looks to each stop and the answers there") {
  constexpr int kScenes = 130, kLooks = 3;
  for (const StoppingAgent& agent : stopping_agents()) {
    CAPTURE(agent.name);
    const TinyTask tiny(agent.overrides), resting;
    auto rollout =
        std::make_unique<Rollout>(tiny.task.model, tiny.task.environments(Split::test)(kScenes, 1));
    RolloutRequest request = RolloutRequest::of_scenes(0, TinyTask::kSeed);
    request.sampling = SamplingMode::deterministic;
    request.classify_every_step = true;
    rollout->run(flat(tiny.weights), request);
    Tally tally(kLooks);
    std::vector<int> looks;
    double errors = 0.0, all_looks = 0.0;
    for (int b = 0; b < kScenes; ++b) {
      looks.push_back(rollout->stopped_at(b));
      all_looks += looks.back();
      errors += rollout->answer->error(b);
      for (int t = 0; t < looks.back(); ++t)
        tally.add_look(t, rollout->facts(t, b), rollout->look->gaze(t, b));
    }
    CHECK(std::ranges::min(looks) < kLooks);
    CHECK(std::ranges::max(looks) > 1);

    const Evaluation found = tiny.evaluate(kScenes, 2, {.details = true});
    CHECK(found.looks == doctest::Approx(all_looks / kScenes));
    CHECK(found.error == doctest::Approx(errors / kScenes));
    CHECK(found.border == doctest::Approx(tally.border / all_looks));
    double on_target = 0.0;
    for (int t = 0; t < kLooks; ++t) {
      on_target += tally.on_target[t];
      if (tally.looks[t] > 0)
        CHECK(found.on_target_by_glimpse[t] ==
              doctest::Approx(tally.on_target[t] / tally.looks[t]));
    }
    CHECK(found.on_target == doctest::Approx(on_target / all_looks));
    const StopPoint own = StopMeasure(found.details.outcomes).at(looks);
    CHECK(own.error.value == found.error);
    CHECK(own.looks.value == doctest::Approx(found.looks));
    CHECK(looks_until_sure(found.details.outcomes, tiny.task.model.answer().stop_threshold) ==
          looks);
    // If asked after each look, as an agent that never stops.
    if (!find_stop_kind(agent.stop).learned() && !agent.reads)
      CHECK(found.details.error_by_glimpse ==
            resting.evaluate(kScenes, 1, {.details = true}).details.error_by_glimpse);
    check_equal(found, tiny.evaluate(kScenes, 1, {.details = true}));
  }
  CHECK(TinyTask().evaluate(50, 1).looks == kLooks);
}

// Of three classes the most probable one is always above the threshold.
TEST_CASE("looks that no episode takes count in no mean") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train(
      "run", {"attention.glimpse.zoom={from: 1, to: 2}", "attention.glimpse.stop=confidence",
              "attention.glimpse.stop_threshold=0.01", "training.episodes=16"});
  const nlohmann::json summary = read_json(run / "summary.json");
  REQUIRE(summary.at("test/looks") == 1.0);
  const auto zooms = summary.at("attention/zoom_by_glimpse").get<std::vector<double>>();
  CHECK(zooms[0] > 0.0);
  CHECK(zooms[1] == 0.0);
  CHECK(summary.at("attention/zoom").get<double>() == doctest::Approx(zooms[0]));
  const Variant variant = gather(std::vector{run}).variants.at(0);
  REQUIRE(variant.on_target_by_glimpse.size() == 1);
  CHECK(variant.on_target_by_glimpse[0].value == doctest::Approx(variant.on_target.value));
}

TEST_CASE("recorded arrays hold the looks and the chances of stopping") {
  for (const StoppingAgent& agent : stopping_agents()) {
    CAPTURE(agent.name);
    const TinyTask tiny(agent.overrides);
    const auto threshold = static_cast<float>(agent.threshold);
    Workers workers(1);
    const std::vector<NpzArray> arrays =
        play(tiny.task.model, flat(tiny.weights), tiny.task.environments(Split::test),
             {.scenes = 20, .seed = TinyTask::kSeed}, workers)
            .take();
    const auto array = [&](const char* name) {
      const auto found = std::ranges::find(arrays, name, &NpzArray::name);
      REQUIRE(found != arrays.end());
      return *found;
    };
    const auto looks = std::get<std::vector<int>>(array("looks").values);
    const auto chances = std::get<std::vector<float>>(array("stop_chances").values);
    REQUIRE(looks.size() == 20);
    REQUIRE(chances.size() == 60);
    for (int n = 0; n < 20; ++n) {
      float going_on = 1.0F;
      int stopped = 0;
      do going_on *= 1.0F - chances[n * 3 + stopped];
      while (++stopped < 3 && 1.0F - going_on <= threshold);
      CHECK(looks[n] == stopped);
      CHECK(chances[n * 3 + 2] == 1.0F);
    }
  }
}

TEST_CASE("a run of an agent that stops is tested, listed and compared at its own stop") {
  const TinyExperiment tiny;
  for (const StoppingAgent& agent : stopping_agents()) {
    CAPTURE(agent.name);
    const fs::path run = tiny.train(agent.name, agent.overrides);
    const nlohmann::json summary = read_json(run / "summary.json");
    CHECK(summary.at("test/stop_threshold") == agent.threshold);
    CHECK(summary.at("test/stopped_error") == summary.at("test/error"));
    CHECK(summary.at("test/looks") >= 1.0);
    CHECK(summary.at("test/looks") <= 3.0);
    const FinishedRun finished = read_finished_run(run);
    REQUIRE(finished.own_stop);
    CHECK(finished.own_stop->threshold == agent.threshold);
    CHECK(finished.own_stop->point.looks.value == summary.at("test/looks"));
    CHECK(contains(bytes_of(run / "metrics.csv"), "valid/looks"));
    const TestFigures given = evaluate({.run_folder = run, .threads = 1, .stop = 0.0001});
    CHECK(given.metrics.at("test/error") == summary.at("test/error"));
    CHECK(given.metrics.at("test/looks") <= summary.at("test/looks"));
    const double cost = summary.at("test/stopped_gflop");
    CHECK(cost > 0.0);
    CHECK(given.metrics.at("test/stopped_gflop") <= cost);
    const std::string screen = to_text(given);
    CHECK(contains(screen, " looks\n"));
    CHECK(contains(screen, "always 3 looks"));
  }
  const fs::path never = tiny.train("never");
  CHECK_FALSE(read_finished_run(never).own_stop);
  const Program::Result compared =
      run_saccade(tiny.path, {"compare", "sampled", "expected", "--out", "report"});
  CHECK(contains(compared.out + compared.err, "looks"));
  CHECK(contains(bytes_of(tiny.path / "report" / "report.html"), "of its own"));
  check_done(run_saccade(
      tiny.path, {"compare", "sampled-reader", "confidence-reader", "--out", "report-readers"}));
  CHECK(contains(bytes_of(tiny.path / "report-readers" / "report.html"), "of its own"));
}

TEST_CASE("a recording of an agent that stops ends where it stops") {
  const TinyExperiment tiny;
  tiny.train("sampled", {"attention.glimpse.stop=sampled", "attention.glimpse.stop_threshold=0.1"});
  check_done(run_saccade(tiny.path, {"record", "sampled", "--out", "own.png"}));
  check_done(run_saccade(tiny.path, {"record", "sampled", "--stop", "0.1", "--out", "given.png"}));
  check_done(run_saccade(tiny.path, {"record", "sampled", "--stop", "0.9999", "--out", "all.png"}));
  CHECK(bytes_of(tiny.path / "own.png") == bytes_of(tiny.path / "given.png"));
  CHECK(bytes_of(tiny.path / "own.png") != bytes_of(tiny.path / "all.png"));
}

TEST_CASE("a recording of an agent that reads ends where it stops by itself, and not elsewhere") {
  const TinyTask tiny(
      with(kReading, {"attention.glimpse.stop=expected", "attention.glimpse.stop_threshold=0.1"}));
  const auto rollout = tiny.play(20, {.sampling = SamplingMode::deterministic});
  REQUIRE(rollout->stopped_at(0) < 3);
  const Tensor<3> canvases = zeros<3>(3, 20, tiny.task.model.canvas().pixels());
  Episode episode(*rollout, canvases);
  episode.end_after(rollout->stopped_at(0));
  CHECK(std::ranges::equal(episode.predictions(), rollout->answer->predictions(0)));
  CHECK(episode.right() == (rollout->answer->error(0) == 0.0F));
  CHECK(episode.stopped_after() == rollout->stopped_at(0));

  const TinyExperiment folder;
  folder.train("reader", with(kReading, {"attention.glimpse.stop=sampled",
                                         "attention.glimpse.stop_threshold=0.1"}));
  check_done(run_saccade(folder.path, {"record", "reader", "--out", "own.png"}));
  check_done(run_saccade(folder.path, {"record", "reader", "--out", "own.gif"}));
  const Program::Result given =
      run_saccade(folder.path, {"record", "reader", "--stop", "0.5", "--out", "given.png"});
  CHECK(given.code == 2);
  CHECK(contains(given.err, "says a sequence only where it stops by itself; allowed: without"));
  CHECK_FALSE(fs::exists(folder.path / "given.png"));
}

TEST_CASE("what is saved by stopping early is the looks, and the decodings of one that is sure") {
  const auto cost = [](const std::string& stop, double looks) {
    return cost_of(TinyTask(with(kReading, {"attention.glimpse.stop=" + stop})).task.model, looks)
        .gflop;
  };
  const double look = cost("sampled", 3) - cost("sampled", 2);
  const double sure = cost("confidence", 3) - cost("confidence", 2);
  CHECK(look > 0.0);
  CHECK(cost("expected", 3) - cost("expected", 2) == doctest::Approx(look));
  CHECK(sure > look);
  CHECK(cost("confidence", 1) == doctest::Approx(cost("sampled", 1)));
}

}  // namespace saccade
