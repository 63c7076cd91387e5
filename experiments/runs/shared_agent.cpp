#include "experiments/runs/shared_agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "agent/learning/checkpoint.h"
#include "base/error.h"
#include "base/output.h"
#include "base/read_text.h"
#include "base/system_reason.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/trained.h"

namespace saccade {
namespace fs = std::filesystem;

void require_no_links(const fs::path& run_folder) {
  const fs::path folder = find_run_folder(run_folder);
  if (fs::is_directory(folder)) RunFolder(folder).require_no_links();
}

void write_shared_agent(const std::filesystem::path& run_folder,
                        const std::filesystem::path& folder, bool half) {
  require_no_links(run_folder);
  const RunFolder run(find_run_folder(run_folder));
  if (!is_finished(run))
    throw InputError(fmt::format("{}: no finished run; its test comes at the end of `saccade run`",
                                 run.path().string()));
  if (fs::exists(folder))
    throw InputError(fmt::format("{}: exists already; allowed: a new folder", folder.string()));
  const OutputFolder beside(folder);
  const RunFolder shared(beside.path());
  const Checkpoint checkpoint(find_checkpoint(run.path()));
  fs::create_directories(shared.best_checkpoint().parent_path());
  for (const char* name :
       {"config.yaml", "command.txt", "meta.json", "metrics.csv", "summary.json", "test.json"})
    replace_text(beside.path() / name, read_text(run.path() / name));
  checkpoint.write_averaged(shared.best_checkpoint(),
                            half ? Precision::half : checkpoint.precision());
  beside.commit();
}

}  // namespace saccade
