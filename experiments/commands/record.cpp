#include "experiments/commands/record.h"
#include "experiments/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"
#include "experiments/config/variants.h"
#include "experiments/pictures/recording.h"
#include "experiments/pictures/video.h"
#include "experiments/runs/trained.h"

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

fs::path default_target(const std::vector<fs::path>& run_folders) {
  const std::string name = "recording" + video_formats().front();
  const bool own = run_folders.size() == 1 && fs::is_directory(run_folders.front());
  return own ? run_folders.front() / name : fs::path(name);
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

std::string record(const RecordOptions& options, const ProgressCallback& on_progress) {
  const fs::path target = options.out.empty() ? default_target(options.run_folders) : options.out;
  const bool sheet = target.extension() == ".png";
  const RecordedScenes only = which(options.only);

  std::vector<std::unique_ptr<Trained>> runs;
  std::vector<const Config*> configs;
  for (const fs::path& folder : options.run_folders) {
    runs.push_back(std::make_unique<Trained>(folder, options.data));
    configs.push_back(&runs.back()->task.config);
    require_same_task(runs[0]->task, runs.back()->task, options.run_folders[0], folder);
  }
  EvaluationConfig evaluation = configs[0]->evaluation;
  evaluation.seed = options.seed.value_or(evaluation.seed);
  std::vector<RecordedAgent> agents;
  const std::vector<std::string> names = agent_names(configs, options.run_folders);
  for (std::size_t i = 0; i < runs.size(); ++i)
    agents.push_back({names[i], runs[i]->task, flat(runs[i]->weights), Split::test, evaluation});

  const int wanted = options.scenes.value_or(sheet ? kSheetScenes : kVideoScenes);
  const Recording written = write_recording(agents, {.target = target,
                                                     .force = options.force,
                                                     .in_place = options.in_place,
                                                     .scenes = wanted,
                                                     .seed = evaluation.seed,
                                                     .only = only,
                                                     .fps = options.fps,
                                                     .dark = options.dark,
                                                     .on_progress = on_progress});
  std::string text = target.string() + "\n";
  if (written.scenes < wanted)
    text += fmt::format("{} scenes of {} are {}\n", written.scenes, written.scanned, options.only);
  return text;
}

Command record_command() {
  const auto options = std::make_shared<RecordOptions>();
  return {
      .name = "record",
      .group = "Look at agents",
      .about = "Film where trained agents look",
      .options = {{"run_dirs", &options->run_folders,
                   "Run folders or names of trained agents, side by side", Option::kRequired},
                  {"--out", &options->out,
                   "What to write: .mp4, .gif or .png (default: recording.mp4 in the run "
                   "folder; here, for several)"},
                  {"--scenes", &options->scenes, "Test scenes (default 8; 4 on a .png)",
                   Range{1, 100'000'000}},
                  {"--seed", &options->seed, "Of the scenes (default evaluation.seed)"},
                  {"--only", &options->only,
                   "wrong, right: scenes that the first agent answers so"},
                  {"--fps", &options->fps, "Glimpses a second (default 3)"},
                  data_option(&options->data),
                  force_option(&options->force)},
      .call =
          [options](const Call& call) {
            return say_unless_stopped(call, "scenes", [&](const ProgressCallback& on_progress) {
              return record(*options, on_progress);
            });
          },
      .examples = {"saccade record soft60 cluttered60 --out both.mp4",
                   "saccade record runs/quickstart/base/seed-1 --out mistakes.gif --only wrong"}};
}

}  // namespace saccade
