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

/// The training results for summary.json.
struct TrainingFigures {
  std::int64_t episodes, best_episodes;
  double best_error;   // on the validation scenes
  int valid_images;    // that these show; 0 if nothing was evaluated in this process
  double train_error;  // in the last row of metrics.csv; NaN if nothing was trained in this process
  double elapsed;      // seconds
};

/// Returns a warning that the agent overfits if its error on the validation images is clearly above
/// that on the training images: by 5 points and by a factor of two, at the lower end of the 95 %
/// interval for this number of validation images. Otherwise empty.
std::string overfitting_word(double train_error, double valid_error, int valid_images);

/// Evaluates the test set, once, with the checkpoint that was best on the validation scenes. The
/// first rank, which holds the lock of the folder, writes test.json and summary.json, and reports
/// the table.
void test_and_summarize(const Task& task, const RunFolder& folder, const RunLock* lock,
                        const TrainingFigures& training, Workers& workers, Ranks& ranks,
                        Progress& progress);

}  // namespace saccade
