#pragma once

#include <cstdint>
#include <string>

#include "base/ranks.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"
#include "experiments/task/task.h"
#include "experiments/training/progress.h"
#include "nn/parallel.h"

namespace saccade {

/// What a training says of itself in summary.json.
struct TrainingFigures {
  std::int64_t episodes, best_episodes;
  double best_error;   // of validation
  double train_error;  // of the last row of metrics.csv; NaN where nothing was trained here
  double elapsed;      // seconds
};

/// A line that says that an agent overfits, where its error on the validation images is clearly
/// above that on the training images: by 5 points and twice as large, at the lower end of the 95 %
/// interval of so many validation images. Else empty.
std::string overfitting_word(double train_error, double valid_error, int valid_images);

/// Reads the test set, once, by the checkpoint that was best on the validation scenes. The first
/// rank, which has the lock of the folder, writes test.json and summary.json, and notes the table.
void test_and_summarize(const Task& task, const RunFolder& folder, const RunLock* lock,
                        const TrainingFigures& training, Workers& workers, Ranks& ranks,
                        Progress& progress);

}  // namespace saccade
