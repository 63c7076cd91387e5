#pragma once

#include <cstdint>

#include "experiments/runs/run_folder.h"
#include "experiments/task/task.h"
#include "experiments/training/progress.h"
#include "nn/parallel.h"
#include "nn/ranks.h"

namespace saccade {

/// What a training says of itself in summary.json.
struct TrainingFigures {
  std::int64_t episodes, best_episodes;
  double best_error;  // of validation
  double elapsed;     // seconds
};

/// Reads the test set, once, by the checkpoint that was best on the validation scenes. The first
/// rank writes test.json and summary.json, and notes the table.
void test_and_summarize(const Task& task, const RunFolder& folder, const TrainingFigures& training,
                        Workers& workers, Ranks& ranks, Progress& progress);

}  // namespace saccade
