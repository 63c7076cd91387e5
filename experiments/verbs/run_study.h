#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/runs/study.h"
#include "experiments/training/progress.h"
#include "experiments/verbs/run.h"

namespace saccade {

/// The study in a file. Throws InputError as read_study does, and where it is none.
Study require_study(const std::filesystem::path& config, const std::vector<std::string>& overrides);

/// The folder of a study: `out`, or runs/<name>.
std::filesystem::path folder_of(const Study& study, const std::filesystem::path& out);

/// Leaves the order of the runs, for those who list or compare them: <study>/study.txt. Throws
/// InputError where nothing can be written.
void write_study_file(const std::filesystem::path& folder, const Study& study);

/// Trains the runs of a study that was read (see train_study), and ends with the comparison of them
/// in <study>/comparison, unless others are still training some: the last of them to end compares.
/// Of `options`, `config`, `overrides` and `resume` are not looked at. Returns false when `stop`
/// became true, after saving. Throws std::runtime_error when runs failed.
bool run_study(const Study& study, const RunOptions& options, StudyProgress& progress,
               const std::atomic<bool>& stop);

/// The same, told on the screen unless `options.quiet`.
bool run_study_on_screen(const Study& study, const RunOptions& options,
                         const std::atomic<bool>& stop);

}  // namespace saccade
