#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/range.h"

namespace saccade {

/// A study as an array job of Slurm.
struct SlurmRequest {
  static constexpr Range kJobs{1, 1000};

  std::filesystem::path config;
  std::vector<std::string> overrides;
  std::filesystem::path out;  // of the study; empty: runs/<name>
  int jobs = 1;               // tasks of the array
  std::string sbatch;         // additional options of sbatch, as on its command line
  bool submit = false;
  bool force = false;  // to write over another script
};

/// Writes <study>/slurm.sh, an array job whose tasks share the runs of a study (`saccade run`, by
/// means of the run locks), and optionally submits it with sbatch. A task that receives SIGUSR1 or
/// SIGTERM saves and requests to be requeued, to continue later. Returns the script's path. Throws
/// InputError if it is not a study, for invalid options, if there is another script and not
/// `force`, and if sbatch is missing or rejects the job.
std::filesystem::path slurm(const SlurmRequest& request);

}  // namespace saccade
