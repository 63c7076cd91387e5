#include "experiments/runs/shared_agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "agent/learning/checkpoint.h"
#include "experiments/files/input.h"
#include "experiments/files/output.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/trained.h"
#include "nn/error.h"
#include "nn/system_reason.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// A folder that is filled beside its place and moved there whole, or else removed.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& place)
      : beside_(place.has_filename() ? place : place.parent_path()) {
    const fs::path above = path().has_parent_path() ? path().parent_path() : ".";
    fs::create_directories(above);
    saccade::remove_left_overs(above);
    errno = 0;
    if (mkdir(path().c_str(), 0777) != 0) cannot_be_written(place);
    folder_ = Descriptor(path(), O_RDONLY | O_DIRECTORY);
    folder_.lock();
  }
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(path(), ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const fs::path& path() const { return beside_.path(); }
  void move_to(const fs::path& place) const {
    std::error_code error;
    fs::rename(path(), place, error);
    if (error) throw_refused(place.string() + ": cannot be made", error.value());
  }

 private:
  NameBeside beside_;
  Descriptor folder_;
};

}  // namespace

void write_shared_agent(const std::filesystem::path& run_folder,
                        const std::filesystem::path& folder) {
  const RunFolder run(find_run_folder(run_folder));
  if (!is_finished(run))
    throw InputError(fmt::format("{}: no finished run; its test comes at the end of `saccade run`",
                                 run.path().string()));
  if (fs::exists(folder))
    throw InputError(fmt::format("{}: exists already; allowed: a new folder", folder.string()));
  const NewFolder beside(folder);
  const RunFolder shared(beside.path());
  const Checkpoint checkpoint(find_checkpoint(run.path()));
  fs::create_directories(shared.best_checkpoint().parent_path());
  for (const char* name :
       {"config.yaml", "command.txt", "meta.json", "metrics.csv", "summary.json", "test.json"})
    replace_text(beside.path() / name, read_text(run.path() / name));
  checkpoint.write_averaged(shared.best_checkpoint());
  beside.move_to(folder);
}

}  // namespace saccade
