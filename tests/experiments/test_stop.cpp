// Stop requests to long commands: they stop at the next scene or draw, and leave no file.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "base/stop.h"
#include "experiments/analysis/bench.h"
#include "experiments/analysis/evaluate.h"
#include "experiments/analysis/gradients.h"
#include "experiments/analysis/record.h"
#include "experiments/analysis/saliency.h"
#include "experiments/comparison/compare.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

TEST_CASE("a command that is asked to stop does so, and leaves nothing behind") {
  const TrainedTiny tiny;
  const struct {
    std::string name;
    std::function<void(const ProgressCallback&)> call;
  } commands[] = {
      {"eval",
       [&](const ProgressCallback& on_progress) {
         evaluate(
             {.run_folder = tiny.run, .on = {.test_scenes = 400}, .weights = tiny.path / "a.npz"},
             on_progress);
       }},
      {"gradients",
       [&](const ProgressCallback& on_progress) {
         const Trained trained(tiny.run);
         Workers workers(0);
         gradients(trained.task, flat(trained.weights), {.agent = "run"}, workers, on_progress);
       }},
      {"compare",
       [&](const ProgressCallback& on_progress) { compare({.folders = {tiny.run}}, on_progress); }},
      {"record .gif",
       [&](const ProgressCallback& on_progress) {
         record({.run_folders = {tiny.run}, .out = tiny.path / "a.gif"}, on_progress);
       }},
      {"record .png",
       [&](const ProgressCallback& on_progress) {
         record({.run_folders = {tiny.run}, .out = tiny.path / "a.png"}, on_progress);
       }},
      {"saliency",
       [&](const ProgressCallback& on_progress) {
         saliency({.run_folder = tiny.run, .out = tiny.path, .scenes = 32}, on_progress);
       }},
      {"bench",
       [&](const ProgressCallback& on_progress) {
         bench({.config = tiny.yaml, .overrides = {}, .seconds = 0.2}, on_progress);
       }},
  };
  const auto before = contents(tiny.path);
  for (const auto& [name, call] : commands) {
    CAPTURE(name);
    // Stops at its first progress report, on whatever thread.
    std::atomic<bool> stop = false;
    CHECK_FALSE(unless_stopped(stop, [&] { call([&](auto, auto) { stop = true; }); }));
    CHECK(stop);
    CHECK(contents(tiny.path) == before);
  }
}

TEST_CASE("Ctrl-C ends a test that would take hours, with 130") {
  const TinyExperiment tiny;
  tiny.train("out");
  const auto before = contents(tiny.path);
  Program program(tiny.path, saccade_words({"eval", "out", "--episodes", "1000000", "--weights",
                                            "weights.npz"}));
  while (!has_name_beside(tiny.path)) std::this_thread::yield();  // it handles signals from here on
  program.send(SIGINT);
  const Program::Result result = program.finish();
  CHECK(result.code == 130);
  CHECK(result.out == "");
  CHECK(result.err == "stopped; nothing was written\n");
  CHECK(contents(tiny.path) == before);
}

}  // namespace
}  // namespace saccade
