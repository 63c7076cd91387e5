#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "experiments/evaluation/evaluator.h"
#include "experiments/task/task.h"
#include "tests/experiments/support.h"

namespace saccade {

inline constexpr int kRows = 13, kCols = 15;  // the tiny experiment's canvas

// The tiny experiment's task with untrained weights, which look and answer almost at random.
struct TinyTask {
  explicit TinyTask(const Overrides& overrides = {})
      : task(read_config(folder.yaml, overrides)), weights(zeros<1>(task.model.layout().size())) {
    task.model.layout().initialize(flat(weights), 5);
    for (float& w : weights) w *= 3.0F;  // so that looks vary
  }

  Evaluation evaluate(int scenes, int threads, const PassRequest& request = {}) const {
    Workers workers(threads);
    Evaluator evaluator(task.model, task.environments(Split::test), scenes, kSeed, workers);
    return evaluator.run(flat(weights), request);
  }

  /// Plays the test scenes in one batch.
  std::unique_ptr<Rollout> play(int scenes, const PassRequest& request = {}, int pass = 0) const {
    auto rollout = std::make_unique<Rollout>(task.model, task.environments(Split::test)(scenes, 1));
    rollout->run(flat(weights), {.seed = kSeed,
                                 .update = static_cast<std::uint32_t>(pass),
                                 .sampling = request.sampling,
                                 .policy = request.policy});
    return rollout;
  }

  static constexpr std::uint64_t kSeed = 777;
  TinyExperiment folder;
  Task task;
  Tensor<1> weights;
};

inline void check_equal(const Evaluation& a, const Evaluation& b) {
  CHECK(a.scenes == b.scenes);
  CHECK(a.error == b.error);
  CHECK(a.error_low == b.error_low);
  CHECK(a.error_high == b.error_high);
  CHECK(a.on_target == b.on_target);
  CHECK(a.on_target_by_glimpse == b.on_target_by_glimpse);
  CHECK(a.border == b.border);
  CHECK(a.distance == b.distance);
  CHECK(a.coverage == b.coverage);
  CHECK(a.entropy == b.entropy);
  CHECK(a.details.error_by_glimpse == b.details.error_by_glimpse);
  CHECK(a.details.confusion == b.details.confusion);
  CHECK(a.details.look_map == b.details.look_map);
}

// Settings of every kind of glimpse that fit the tiny canvas.
inline Overrides with_kind(const std::string& kind, const Overrides& more = {}) {
  return with({"attention.glimpse.kind=" + kind, "attention.glimpse.grid=[2, 3]",
               "attention.glimpse.stride=4", "attention.glimpse.filters=3"},
              more);
}
inline Overrides with_model(const std::string& kind) {
  return {"model.kind=" + kind, "model.kernel_size=3", "model.channels=[2, 3]",
          "model.canvas_hidden=5"};
}

}  // namespace saccade
