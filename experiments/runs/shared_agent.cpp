#include "experiments/runs/shared_agent.h"

#include <fmt/format.h>

#include "agent/learning/checkpoint.h"
#include "experiments/files/input.h"
#include "experiments/files/output.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/trained.h"
#include "nn/error.h"

namespace saccade {

void write_shared_agent(const std::filesystem::path& run_folder,
                        const std::filesystem::path& folder) {
  const RunFolder run(find_run_folder(run_folder)), shared(folder);
  if (!is_finished(run))
    throw InputError(fmt::format("{}: no finished run; its test comes at the end of `saccade run`",
                                 run.path().string()));
  if (std::filesystem::exists(folder))
    throw InputError(fmt::format("{}: exists already; allowed: a new folder", folder.string()));
  const Checkpoint checkpoint(find_checkpoint(run.path()));
  std::filesystem::create_directories(shared.best_checkpoint().parent_path());
  for (const char* name :
       {"config.yaml", "command.txt", "meta.json", "metrics.csv", "summary.json", "test.json"})
    write_text(folder / name, read_text(run.path() / name));
  checkpoint.write_averaged(shared.best_checkpoint());
}

}  // namespace saccade
