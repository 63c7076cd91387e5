#include "experiments/analysis/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "experiments/config/variants.h"
#include "experiments/pictures/video.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 40;
constexpr int kSheetScenes = 4, kVideoScenes = 8;  // defaults

bool distinct(const std::vector<std::string>& names) {
  return std::set(names.begin(), names.end()).size() == names.size();
}

// Cuts the beginning, since the end is more specific.
std::string shortened(const std::string& name) {
  return name.size() <= kMaxName ? name : ".." + name.substr(name.size() - kMaxName + 2);
}

// Returns the shortest endings of the paths, in whole folders, that are distinct.
std::vector<std::string> path_ends(std::span<const fs::path> folders) {
  std::vector<std::string> names(folders.size());
  std::vector<fs::path> rest;
  for (const fs::path& folder : folders) rest.push_back(fs::absolute(folder / "").parent_path());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!rest[i].has_relative_path()) continue;
      names[i] = rest[i].filename().string() + (names[i].empty() ? "" : "/") + names[i];
      rest[i] = rest[i].parent_path();
      more = true;
    }
    if (distinct(names)) break;
  }
  return names;
}

void require_same_task(const Task& a, const Task& b, const fs::path& folder_a,
                       const fs::path& folder_b) {
  const std::string why =
      task_difference(a.config, a.digits.checksums, b.config, b.digits.checksums);
  if (!why.empty())
    throw InputError(
        fmt::format("mixed tasks: {} in {} and {}; agents side by side need the same scenes", why,
                    folder_a.string(), folder_b.string()));
}

fs::path default_target(const RecordRequest& request) {
  const std::string name = "recording" + video_formats().front();
  const std::vector<fs::path>& folders = request.run_folders;
  const bool own =
      folders.size() == 1 && fs::is_directory(folders.front()) && request.on.scenes.empty();
  return own ? folders.front() / name : fs::path(name);
}

RecordedScenes which(const std::string& only) {
  if (only.empty()) return RecordedScenes::all;
  if (only == "wrong") return RecordedScenes::wrong;
  if (only == "right") return RecordedScenes::right;
  throw InputError(fmt::format("--only {}: allowed: wrong, right", only));
}

}  // namespace

std::vector<std::string> agent_names(std::span<const Config* const> configs,
                                     std::span<const fs::path> folders) {
  std::vector<std::string> names = variant_labels(configs);
  if (!distinct(names)) names = path_ends(folders);
  std::ranges::transform(names, names.begin(), shortened);
  if (distinct(names)) return names;
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = shortened(fmt::format("{}. {}", i + 1, configs[i]->name));
  return names;
}

TrainedAgents::TrainedAgents(const std::vector<fs::path>& run_folders, const TestedOn& on) {
  std::vector<const Config*> configs;
  for (const fs::path& folder : run_folders) {
    runs_.push_back(std::make_unique<Trained>(folder, on));
    configs.push_back(&runs_.back()->task.config);
    require_same_task(runs_[0]->task, runs_.back()->task, run_folders[0], folder);
  }
  names_ = agent_names(configs, run_folders);
}

std::vector<RecordedAgent> TrainedAgents::on_scenes(std::uint64_t seed) const {
  EvaluationConfig evaluation = runs_[0]->task.config.evaluation;
  evaluation.seed = seed;
  std::vector<RecordedAgent> agents;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    agents.push_back({names_[i], runs_[i]->task, flat(runs_[i]->weights), Split::test, evaluation});
  return agents;
}

std::string TrainedAgents::from_training() const {
  std::string lines;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (const auto& differences = runs_[i]->from_training; !differences.empty())
      lines += fmt::format("{}: not as in training: {}\n", names_[i], to_text(differences));
  return lines;
}

RecordedFile record(const RecordRequest& request, const ProgressCallback& on_progress) {
  const fs::path target = request.out.empty() ? default_target(request) : request.out;
  const RecordedScenes only = which(request.only);
  const TrainedAgents agents(request.run_folders, request.on);
  const std::uint64_t seed = request.seed.value_or(agents.seed());
  const int wanted =
      request.scenes.value_or(target.extension() == ".png" ? kSheetScenes : kVideoScenes);
  return {target, wanted,
          write_recording(agents.on_scenes(seed), {.target = target,
                                                   .force = request.force,
                                                   .scenes = wanted,
                                                   .seed = seed,
                                                   .only = only,
                                                   .stop = request.stop,
                                                   .fps = request.fps,
                                                   .threads = request.threads,
                                                   .on_progress = on_progress}),
          agents.from_training()};
}

}  // namespace saccade
