#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/runs/folder_lock.h"
#include "experiments/runs/run_folder.h"
#include "experiments/runs/study.h"
#include "experiments/training/progress.h"

namespace saccade {

struct StudyRequest {
  std::filesystem::path folder;  // of the study
  int jobs = 0;                  // runs at once; 0: see default_jobs
  int threads = 0;               // that they divide; 0: every processor this process may use
  std::string command;           // as typed, for command.txt
  bool strict = false;           // see TrainingRequest
};

/// What came of it.
struct StudyOutcome {
  std::vector<std::filesystem::path> finished;  // in the order of the study
  int failed = 0;
  std::vector<Holder> held;  // of each run that others are training
  bool stopped = false;
};

/// Trains the runs of a study, `jobs` at once, each on its part of the threads. It goes on from
/// where it is: runs that are finished are left as they are, others begin or are resumed, one that
/// fails is told and does not stop the others. Runs that somebody else is training are left to him,
/// so that several processes divide a study among them. Each run ends with the bytes that it has
/// alone.
StudyOutcome train_study(const Study& study, const StudyRequest& request, StudyProgress& progress,
                         const std::atomic<bool>& stop);

/// How many runs are trained at once where nobody says: as many as there are threads, since a run
/// of one thread never waits for another, while there are runs and `memory` (bytes) for them.
int default_jobs(int runs, int threads, std::int64_t memory);

}  // namespace saccade
