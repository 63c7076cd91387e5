#include "experiments/training/study_status.h"

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/runs/finished_run.h"
#include "experiments/training/run_study.h"

namespace saccade {

StudyStatus study_status(const StatusRequest& request) {
  StudyStatus status{request.study, {}};
  if (std::filesystem::is_directory(request.study)) {
    if (!request.overrides.empty() || !request.out.empty())
      throw InputError(fmt::format(
          "{}: is a folder, which says all; overrides and --out go with the file of a study",
          request.study.string()));
    for (const std::filesystem::path& run : find_runs(request.study))
      status.runs.push_back(status_of(RunFolder(run)));
    return status;
  }
  const Study study = require_study(request.study, request.overrides);
  status.study = folder_of(study, request.out);
  for (const StudyRun& run : study.runs)
    status.runs.push_back(status_of(RunFolder(status.study / run.folder)));
  return status;
}

}  // namespace saccade
