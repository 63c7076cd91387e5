#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/range.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"
#include "experiments/runs/study.h"
#include "experiments/task/own_parts.h"
#include "experiments/training/progress.h"

namespace saccade {

struct StudyRequest {
  static constexpr Range kJobs{1, 1024};

  std::filesystem::path folder;  // of the study
  int jobs = 0;                  // runs trained at once; 0: see default_jobs
  int threads = 0;               // shared by them; 0: every processor this process may use
  std::string command;           // as typed, for command.txt
  bool strict = false;           // see TrainingRequest
  OwnParts own = {};             // of every run, which share them
};

/// Result of training a study.
struct StudyOutcome {
  std::vector<std::filesystem::path> finished;  // in study order
  int failed = 0;
  std::vector<Holder> held;  // one per run that others are training
  bool stopped = false;
};

/// Trains the runs of a study, `jobs` at once, each with its share of the threads. Continues where
/// it left off: finished runs are skipped, others begin or resume, and a failing run is reported
/// without stopping the others. Runs in training by another process are left to it, so that several
/// processes can share a study. Each run gives the same bytes as when trained alone.
StudyOutcome train_study(const Study& study, const StudyRequest& request, StudyProgress& progress,
                         const std::atomic<bool>& stop);

/// Returns the default number of runs to train at once: the number of threads, since a run with one
/// thread never waits for another, limited by the number of runs and by `memory` (bytes).
int default_jobs(int runs, int threads, std::int64_t memory);

}  // namespace saccade
