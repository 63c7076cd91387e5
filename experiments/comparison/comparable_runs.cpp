#include "experiments/comparison/comparable_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/stop.h"
#include "experiments/config/variants.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

bool same_configuration(const FinishedRun& a, const FinishedRun& b) {
  const Config* const both[] = {&a.config, &b.config};
  return differing_keys(both).empty();
}

// ---- Grouping ----

// Groups runs by configuration, and records why a run cannot be compared.
class Grouping {
 public:
  Grouping(std::vector<LeftOut>& left_out, const SceneOverrides& other_scenes)
      : left_out_(left_out), other_scenes_(other_scenes) {}

  // Adds every run of a given folder.
  void add_all(const fs::path& given) {
    bool used = false;
    std::string other;  // why a run had a different test
    for (const fs::path& folder : find_runs(given)) {
      const bool is_new = taken_.insert(fs::weakly_canonical(folder)).second;
      used |= !is_new || add(folder, other);
    }
    if (!used && !other.empty())
      throw InputError(fmt::format("{}: mixed tasks: {}", given.string(), other));
  }

  // Returns the runs by configuration, in seed order.
  std::vector<Runs> sorted() && {
    for (Runs& runs : configurations_)
      std::ranges::sort(runs, {}, [](const FinishedRun& r) { return r.config.seed; });
    return std::move(configurations_);
  }

 private:
  // Returns whether the run is compared; if its test was a different one, `other` says what
  // differs.
  bool add(const fs::path& folder, std::string& other) {
    FinishedRun run;
    try {
      if (!is_finished(RunFolder(folder))) return leave_out(folder, "not finished");
      run = read_trained_run(folder);
    } catch (const std::runtime_error& error) {
      return leave_out(folder, error.what());
    }
    run.tested = with_scenes(run.config, other_scenes_);
    if (!configurations_.empty()) {
      const FinishedRun& first = configurations_[0][0];
      if (const std::string why = other_test(first, run); !why.empty()) {
        other = fmt::format("{} (there: {})", why, first.folder.string());
        return leave_out(folder, other);
      }
    }
    Runs& runs = runs_like(run);
    const auto twin = std::ranges::find_if(
        runs, [&](const FinishedRun& r) { return r.config.seed == run.config.seed; });
    if (twin != runs.end())
      return leave_out(folder,
                       fmt::format("same configuration and seed as {}", twin->folder.string()));
    runs.push_back(std::move(run));
    return true;
  }

  Runs& runs_like(const FinishedRun& run) {
    const auto found = std::ranges::find_if(
        configurations_, [&](const Runs& runs) { return same_configuration(runs[0], run); });
    return found != configurations_.end() ? *found : configurations_.emplace_back();
  }

  bool leave_out(const fs::path& folder, const std::string& reason) {
    left_out_.push_back({folder, reason});
    return false;
  }

  std::vector<LeftOut>& left_out_;
  const SceneOverrides& other_scenes_;
  std::vector<Runs> configurations_;
  std::set<fs::path> taken_;
};

void require_equal(std::size_t first, std::size_t here, const char* what) {
  if (first != here)
    throw InputError(fmt::format("its test has {} {}, that of the others {}", here, what, first));
}

// Checks that the kept results of two tests have the same sizes; old runs kept none.
void require_same_sizes(const FinishedRun& first, const FinishedRun& run) {
  require_equal(first.on_target_by_glimpse.size(), run.on_target_by_glimpse.size(),
                "looks (attention/on_target_by_glimpse)");
  if (first.class_names.empty() || run.class_names.empty()) return;
  require_equal(first.error_by_glimpse.size(), run.error_by_glimpse.size(),
                "glimpses (test/error_by_glimpse)");
  require_equal(first.look_map.rows, run.look_map.rows, "rows (attention/look_map)");
  require_equal(first.look_map.cols, run.look_map.cols, "columns (attention/look_map)");
}

}  // namespace

std::string other_test(const FinishedRun& first, const FinishedRun& run) {
  const EvaluationConfig &a = first.config.evaluation, &b = run.config.evaluation;
  if (a.scenes != b.scenes)
    return fmt::format("evaluation.scenes is {} and {}", a.scenes, b.scenes);
  if (a.draws != b.draws) return fmt::format("evaluation.draws is {} and {}", a.draws, b.draws);
  if (a.seed != b.seed) return fmt::format("evaluation.seed is {} and {}", a.seed, b.seed);
  return task_difference(first.tested, first.checksums, run.tested, run.checksums);
}

void require_any(bool any, std::span<const fs::path> folders, std::span<const LeftOut> left_out) {
  if (!any)
    throw InputError(fmt::format("{}: no run is finished and whole ({})", folders[0].string(),
                                 left_out[0].reason));
}

std::vector<Runs> group_runs(std::span<const fs::path> folders, const SceneOverrides& other_scenes,
                             std::vector<LeftOut>& left_out) {
  Grouping grouping(left_out, other_scenes);
  for (const fs::path& given : folders) grouping.add_all(given);
  std::vector<Runs> configurations = std::move(grouping).sorted();
  require_any(!configurations.empty(), folders, left_out);
  return configurations;
}

void read_tests(std::vector<Tuned>& variants, const std::function<void(FinishedRun&)>& test,
                std::vector<LeftOut>& left_out) {
  std::size_t classes = 0;
  for (Tuned& variant : variants) {
    Runs tested;
    for (FinishedRun& run : variant.runs) {
      stop_if_asked();
      if (test) test(run);
      try {
        if (!test) read_test(run);
        if (classes > 0 && !run.class_names.empty())
          require_equal(classes, run.class_names.size(), "classes (class_names)");
        if (!tested.empty()) require_same_sizes(tested[0], run);
        classes = std::max(classes, run.class_names.size());
        tested.push_back(std::move(run));
      } catch (const std::runtime_error& error) {
        left_out.push_back({run.folder, error.what()});
      }
    }
    variant.runs = std::move(tested);
  }
  std::erase_if(variants, [](const Tuned& variant) { return variant.runs.empty(); });
}

}  // namespace saccade
