#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/runs/run_status.h"

namespace saccade {

struct StatusRequest {
  std::filesystem::path study;         // its folder or its file
  std::vector<std::string> overrides;  // for the file
  std::filesystem::path out;           // with the file: as for `saccade run`
};

struct StudyStatus {
  std::filesystem::path study;  // its folder
  std::vector<RunStatus> runs;  // in the order of the study
};

/// Returns the state of each run of a study, or of the runs below a folder. Throws InputError if it
/// is not a study.
StudyStatus study_status(const StatusRequest& request);

}  // namespace saccade
