#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/runs/folder_lock.h"
#include "experiments/runs/study.h"
#include "experiments/training/progress.h"
#include "experiments/training/study_training.h"

namespace saccade {

/// Returns the study in a file. Throws InputError as read_study does, and if it is not a study.
Study require_study(const std::filesystem::path& config, const std::vector<std::string>& overrides);

/// Returns the folder of a study: `out`, or runs/<name>.
std::filesystem::path folder_of(const Study& study, const std::filesystem::path& out);

/// Returns the folder of a run: below that of its study; of a single run `out` itself.
std::filesystem::path folder_of(const Study& study, const StudyRun& run,
                                const std::filesystem::path& out);

/// Records the order of the runs for listing and comparing: <study>/study.txt. Throws InputError if
/// it cannot be written.
void write_study_file(const std::filesystem::path& folder, const Study& study,
                      const StudyLock::OnWait& on_wait = nullptr);

/// Trains the runs of a study that has been read (see train_study), then compares them in
/// <study>/comparison, unless other processes are still training some: the last process to end
/// compares. Returns false if `stop` became true, after saving. Throws std::runtime_error if runs
/// failed.
bool run_study(const Study& study, const StudyRequest& request, StudyProgress& progress,
               const std::atomic<bool>& stop);

/// The same, with progress on the screen, or with `quiet` only why runs failed.
bool run_study_on_screen(const Study& study, const StudyRequest& request, bool quiet,
                         const std::atomic<bool>& stop);

}  // namespace saccade
