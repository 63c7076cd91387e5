#include "experiments/training/run_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/read_text.h"
#include "base/stop.h"
#include "experiments/comparison/comparable_runs.h"
#include "experiments/comparison/compare.h"
#include "experiments/runs/finished_run.h"
#include "experiments/runs/folder_lock.h"
#include "experiments/training/study_screen.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Finished runs with the same test.
struct Comparable {
  FinishedRun first;
  std::vector<fs::path> folders;
};

// A damaged run is with the first ones: their comparison says why it is left out.
std::vector<Comparable> by_test(const StudyOutcome& outcome) {
  std::vector<Comparable> groups;
  std::vector<fs::path> damaged;
  for (const fs::path& folder : outcome.finished) {
    try {
      FinishedRun run = read_trained_run(folder);
      const auto same = std::ranges::find_if(
          groups, [&](const Comparable& group) { return other_test(group.first, run).empty(); });
      if (same != groups.end())
        same->folders.push_back(folder);
      else
        groups.push_back({std::move(run), {folder}});
    } catch (const std::runtime_error&) {
      damaged.push_back(folder);
    }
  }
  if (groups.empty()) groups.emplace_back();
  groups[0].folders.insert(groups[0].folders.end(), damaged.begin(), damaged.end());
  return groups;
}

StudyLock::OnWait says_who_holds(const fs::path& folder, StudyProgress& progress) {
  return [&, folder](const Holder& holder) {
    progress.note(fmt::format("{}: waits for {}, which writes the files of the study\n",
                              folder.string(), to_text(holder)));
  };
}

// Throws InputError if the folder is a run's, whose study no command would see, or if its study.txt
// is a file of the user's.
void require_study_folder(const fs::path& folder) {
  if (fs::exists(folder / "config.yaml") || fs::exists(folder / "checkpoints"))
    throw InputError(fmt::format(
        "{}: is the folder of a run; --out DIR chooses another for the study", folder.string()));
  const fs::path path = folder / kStudyFile;
  if (!fs::exists(path)) return;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);)
    if (!fs::path(line).filename().string().starts_with(kSeedFolder))
      throw InputError(fmt::format(
          "{}: '{}' is not the folder of a run, so the file is not of a study; --out DIR chooses "
          "another folder",
          path.string(), abridged(line)));
}

// Runs with other tests are compared by themselves, in comparison-2 and so on.
void compare_runs(const Study& study, const StudyOutcome& outcome, const StudyRequest& request,
                  StudyProgress& progress) {
  const StudyLock lock(request.folder, says_who_holds(request.folder, progress));
  const std::vector<Comparable> groups = by_test(outcome);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    // A fair comparison requires the same number of tries for every variant.
    const ComparedRuns compared =
        compare({.folders = groups[i].folders,
                 .out = request.folder / (i == 0 ? kComparisonFolder
                                                 : fmt::format("{}-{}", kComparisonFolder, i + 1)),
                 .tuned_by = outcome.failed == 0 ? study.tuned_by : std::vector<std::string>(),
                 .own = request.own,
                 .force = true,
                 .command = request.command,
                 .threads = request.threads});
    const std::string other =
        i == 0 ? "" : other_test(groups[0].first, groups[i].first) + " here\n";
    progress.note("\n" + other + to_text(compared));
  }
}

// Reports only why runs failed.
class ErrorsOnly final : public StudyProgress {
 public:
  std::unique_ptr<Progress> begin_run(int run, const std::string& label,
                                      const RunFolder& folder) override {
    labels_[run] = label;
    return StudyProgress::begin_run(run, label, folder);
  }
  void end_run(int run, const std::string& text, Ending ending) override {
    if (ending == Ending::failed)
      fmt::print(stderr, "saccade: {}: {}\n", printable(labels_[run]), printable(text));
  }

 private:
  std::map<int, std::string> labels_;
};

// "2 runs are still being trained by process 12 on host h, ...; who ends the last compares them"
std::string word_on_others(const std::vector<Holder>& held) {
  std::set<std::string> holders;
  for (const Holder& holder : held) holders.insert(to_text(holder));
  return fmt::format("{} still being trained by {}; who ends the last one compares them\n",
                     held.size() == 1 ? "1 run is" : fmt::format("{} runs are", held.size()),
                     fmt::join(holders, "; "));
}

}  // namespace

Study require_study(const fs::path& config, const std::vector<std::string>& overrides) {
  Study study = read_study(config, overrides);
  if (study.single)
    throw InputError(
        fmt::format("{}: is a single run; allowed: a study (vary, seeds), which seeds=[1] "
                    "makes of it",
                    config.string()));
  return study;
}

fs::path folder_of(const Study& study, const fs::path& out) {
  return out.empty() ? fs::path("runs") / study.name : out;
}

fs::path folder_of(const Study& study, const StudyRun& run, const fs::path& out) {
  return study.single && !out.empty() ? out : folder_of(study, out) / run.folder;
}

void write_study_file(const fs::path& folder, const Study& study,
                      const StudyLock::OnWait& on_wait) {
  std::string lines;
  for (const StudyRun& run : study.runs) lines += run.folder.string() + "\n";
  require_study_folder(folder);
  const StudyLock lock(folder, on_wait);
  const fs::path path = folder / kStudyFile;
  if (fs::exists(path) && read_text(path) == lines) return;
  replace_text(path, lines);
}

bool run_study(const Study& study, const StudyRequest& request, StudyProgress& progress,
               const std::atomic<bool>& stop) {
  if (!unless_stopped(stop, [&] {
        write_study_file(request.folder, study, says_who_holds(request.folder, progress));
      }))
    return false;
  const StudyOutcome outcome = train_study(study, request, progress, stop);
  if (outcome.stopped) return false;
  if (!outcome.held.empty()) {
    progress.note(word_on_others(outcome.held));
  } else if (!outcome.finished.empty() &&
             !unless_stopped(stop, [&] { compare_runs(study, outcome, request, progress); })) {
    return false;
  }
  if (outcome.failed > 0)
    throw std::runtime_error(fmt::format("{} of {} runs failed; the same command tries them again",
                                         outcome.failed, study.runs.size()));
  return true;
}

bool run_study_on_screen(const Study& study, const StudyRequest& request, bool quiet,
                         const std::atomic<bool>& stop) {
  if (quiet) {
    ErrorsOnly errors;
    return run_study(study, request, errors, stop);
  }
  std::vector<std::int64_t> episodes;
  for (const StudyRun& run : study.runs) episodes.push_back(run.config.agent.training.episodes);
  StudyScreen screen(study.name, episodes);
  return run_study(study, request, screen, stop);
}

}  // namespace saccade
