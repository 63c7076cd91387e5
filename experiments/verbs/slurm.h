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
  std::string sbatch;         // more options of sbatch, as for its command line
  bool submit = false;
};

/// Writes <study>/slurm.sh, an array job for Slurm whose tasks divide the runs of a study among
/// them
/// (`saccade run`, by the locks of the runs), and hands it to sbatch where it is to. A task that is
/// told of its end by SIGUSR1 or SIGTERM saves, and goes on later: it asks to be queued again.
/// Returns what to print. Throws InputError for what is no study, options that cannot be, and where
/// there is no sbatch or it takes no such job.
std::string slurm(const SlurmOptions& options);

}  // namespace saccade
