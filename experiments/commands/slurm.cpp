#include "experiments/training/slurm.h"

#include <memory>

#include "base/printable.h"
#include "experiments/commands/command.h"

namespace saccade {

Command slurm_command() {
  const auto request = std::make_shared<SlurmRequest>();
  return {
      .name = "slurm",
      .group = "Studies on many machines",
      .about = "Write, and submit, a study as an array job of Slurm",
      .options = {{kConfigOption, &request->config, "Study: a YAML file or the name of a preset",
                   Option::kRequired},
                  overrides_option(&request->overrides),
                  {"--out", &request->out, "The folder of the study (default: runs/<name>)"},
                  {"--jobs", &request->jobs, "Tasks, which divide the runs (default: 1)",
                   SlurmRequest::kJobs},
                  {"--sbatch", &request->sbatch,
                   "Options of sbatch, \"--partition=long --cpus-per-task=8\""},
                  {"--submit", &request->submit, "Submit it, too"},
                  force_option(&request->force)},
      .call =
          [request](const Call&) {
            const std::filesystem::path file = slurm(*request);
            say(request->submit ? "saccade status " + shell_word(file.parent_path().string()) + "\n"
                                : "sbatch " + shell_word(file.string()) + "\n");
            return Ending::done;
          },
      .examples = {"saccade slurm experiments/hard_vs_soft.yaml --jobs 20",
                   "saccade slurm hard_vs_soft --jobs 20 --submit --sbatch \"--time=4:00:00\""}};
}

}  // namespace saccade
