#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// `saccade slurm`
struct SlurmOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  std::filesystem::path out;  // of the study; empty: runs/<name>
  int jobs = 1;               // tasks of the array
  std::string sbatch;         // additional sbatch options, as on its command line
  bool submit = false;
};

/// Writes <study>/slurm.sh, a Slurm array job whose tasks share the runs of a study (`saccade run`,
/// by means of the run locks), and optionally submits it with sbatch. A task that receives SIGUSR1
/// or SIGTERM saves and requests to be requeued, to continue later. Returns what to print. Throws
/// InputError if it is not a study, for invalid options, and if sbatch is missing or rejects the
/// job.
std::string slurm(const SlurmOptions& options);

}  // namespace saccade
