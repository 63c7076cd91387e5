#include "experiments/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <variant>

#include "experiments/config_table.h"
#include "experiments/pictures/recording.h"
#include "experiments/pictures/video.h"
#include "experiments/trained.h"
#include "nn/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 40;
constexpr int kSheetScenes = 4, kVideoScenes = 8;  // by default

bool distinct(const std::vector<std::string>& names) {
  return std::set(names.begin(), names.end()).size() == names.size();
}

// The end says more than the beginning.
std::string shortened(const std::string& name) {
  return name.size() <= kMaxName ? name : ".." + name.substr(name.size() - kMaxName + 2);
}

// The last folders of each path, as many as tell them apart.
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

struct ToText {
  std::string operator()(const std::string* field) const { return *field; }
  std::string operator()(const std::array<int, 2>* field) const {
    return fmt::format("[{}, {}]", (*field)[0], (*field)[1]);
  }
  std::string operator()(const Ramp* field) const {
    return fmt::format("{} to {}", field->from, field->to);
  }
  std::string operator()(const auto* field) const { return fmt::format("{}", *field); }
};

// What must be the same for agents to be shown the same scenes: key -> value.
std::vector<std::pair<std::string, std::string>> task_facts(const Task& task) {
  std::vector<std::pair<std::string, std::string>> facts;
  Config config = task.config;
  for (const Setting& setting : settings(config))
    if (setting.key.starts_with("scene.") || setting.key == "data.source" ||
        setting.key == "data.size")
      facts.emplace_back(setting.key, std::visit(ToText{}, setting.field));
  std::string checksums;
  for (const auto& [file, checksum] : task.digits.checksums)
    checksums += fmt::format("{}{} {}", checksums.empty() ? "" : ", ", file, checksum);
  facts.emplace_back("checksums of the data", checksums);
  return facts;
}

void require_same_task(const Task& a, const Task& b, const fs::path& folder_a,
                       const fs::path& folder_b) {
  const auto facts_a = task_facts(a), facts_b = task_facts(b);
  for (std::size_t i = 0; i < facts_a.size(); ++i)
    if (facts_a[i] != facts_b[i])
      throw InputError(fmt::format(
          "mixed tasks: {} is {} in {} and {} in {}; agents side by side need the same scenes",
          facts_a[i].first, facts_a[i].second, folder_a.string(), facts_b[i].second,
          folder_b.string()));
}

fs::path default_target(const std::vector<fs::path>& run_folders) {
  const std::string name = "recording" + video_formats().front();
  return run_folders.size() == 1 ? run_folders.front() / name : fs::path(name);
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
  std::vector<std::string> kinds, names;
  for (const Config* config : configs) {
    const std::string& model = config->agent.model.kind;
    kinds.push_back(model == "recurrent" ? config->agent.glimpse.kind : model);
    names.push_back(config->name);
  }
  if (configs.size() == 1) return {shortened(names[0])};
  for (std::vector<std::string> all : {kinds, names, path_ends(folders)}) {
    std::ranges::transform(all, all.begin(), shortened);
    if (distinct(all)) return all;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = shortened(fmt::format("{}. {}", i + 1, kinds[i]));
  return names;
}

std::string record(const RecordOptions& options, const std::atomic<bool>& stop) {
  const fs::path target = options.out.empty() ? default_target(options.run_folders) : options.out;
  const bool sheet = target.extension() == ".png";
  const RecordedScenes only = which(options.only);

  std::vector<std::unique_ptr<Trained>> runs;
  std::vector<const Config*> configs;
  for (const fs::path& folder : options.run_folders) {
    runs.push_back(std::make_unique<Trained>(folder));
    configs.push_back(&runs.back()->task.config);
    require_same_task(runs[0]->task, runs.back()->task, options.run_folders[0], folder);
  }
  const std::uint64_t seed = options.seed.value_or(configs[0]->evaluation.seed);
  std::vector<std::unique_ptr<SceneMaker>> scenes;
  std::vector<RecordedAgent> agents;
  const std::vector<std::string> names = agent_names(configs, options.run_folders);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Task& task = runs[i]->task;
    scenes.push_back(std::make_unique<SceneMaker>(task.config.scene, AugmentationConfig{},
                                                  task.digits.test, DigitOrder::fixed, seed));
    agents.push_back({names[i], task, flat(runs[i]->weights), *scenes[i]});
  }

  const int wanted = options.scenes.value_or(sheet ? kSheetScenes : kVideoScenes);
  const Recording written = write_recording(agents,
                                            {.target = target,
                                             .force = options.force,
                                             .scenes = wanted,
                                             .seed = seed,
                                             .only = only,
                                             .fps = options.fps},
                                            stop);
  if (!written.finished) return "";
  std::string text = target.string() + "\n";
  if (written.scenes < wanted)
    text += fmt::format("{} scenes of {} are {}\n", written.scenes, written.scanned, options.only);
  return text;
}

}  // namespace saccade
