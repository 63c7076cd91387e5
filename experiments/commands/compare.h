#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/files/progress_bar.h"

namespace saccade {

/// `saccade compare`
struct CompareOptions {
  std::vector<std::filesystem::path> folders = {};  // of runs or studies
  std::filesystem::path out =
      {};                     // empty: comparison/ in the folder given, or here where several are
  std::string tuned_by = {};  // keys with commas between them; see gather()
  bool json = false;
  bool force = false;        // write over an older comparison
  std::string command = {};  // as typed, for the report
};

/// Puts trained agents side by side (see gather()) and writes into the folder `out`: compare.md,
/// compare.csv, recording.mp4 of the first run of each variant (.gif where there is no encoder of
/// H.264), recording_dark.mp4, the same for dark pages, report.html with all of that, and
/// charts/*.png. Returns the table and then where the recording and the report are, or with `json`
/// one document. Throws InputError as gather does, and where any of these files is there already.
std::string compare(const CompareOptions& options, const ProgressCallback& on_progress = nullptr);

/// report.html of such a comparison.
std::filesystem::path report_of(const CompareOptions& options);

}  // namespace saccade
