#include "experiments/runs/trained.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/name_table.h"
#include "experiments/config/setting_names.h"
#include "experiments/files/shipped.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

std::filesystem::path find_run_folder(const std::filesystem::path& given) {
  if (std::filesystem::exists(given)) return given;
  const std::filesystem::path shipped = shipped_agent(given.string());
  return shipped.empty() ? given : shipped;
}

namespace {

// Returns "; trained agents that come with the program: ..." if `given` may have been meant as such
// a name.
std::string word_on_agents(const std::filesystem::path& given) {
  const std::vector<std::string> names = shipped_agents();
  if (given.has_parent_path() || names.empty()) return "";
  if (std::ranges::find(names, given.string()) != names.end())
    return "; the trained agent of this name is found where there is no folder of it";
  const std::optional<std::string> meant = nearest_word(given.string(), names);
  return fmt::format("{}; trained agents: {}",
                     meant ? fmt::format("; did you mean '{}'?", *meant) : "", join(names));
}

}  // namespace

std::filesystem::path find_checkpoint(const std::filesystem::path& run_folder) {
  if (run_folder.extension() == ".safetensors") return run_folder;
  const RunFolder folder(find_run_folder(run_folder));
  for (const auto& path : {folder.best_checkpoint(), folder.last_checkpoint()}) {
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(path)))
      throw InputError(path.string() + ": a symbolic link in a run folder is not followed");
    if (std::filesystem::exists(path)) return path;
  }
  throw InputError(fmt::format("{}: no run folder with a checkpoint (looked for {}){}",
                               run_folder.string(), folder.best_checkpoint().string(),
                               word_on_agents(run_folder)));
}

double progress_of(const Checkpoint& checkpoint, const Config& config) {
  return std::min(1.0, static_cast<double>(checkpoint.updates()) /
                           static_cast<double>(total_updates(config.agent.training)));
}

Config config_of(const Checkpoint& checkpoint, const std::string& origin) {
  Config config = parse_config(checkpoint.config_yaml(), origin);
  config.agent.glimpse = held_at(config.agent.glimpse, progress_of(checkpoint, config));
  return config;
}

std::map<std::string, std::string> data_checksums(const Checkpoint& checkpoint) {
  std::map<std::string, std::string> checksums;
  if (!checkpoint.has_note("data")) return checksums;
  const nlohmann::json data = nlohmann::json::parse(checkpoint.note("data"), nullptr, false);
  if (data.is_object())
    for (const auto& [file, checksum] : data.items())
      if (checksum.is_string()) checksums[file] = checksum;
  return checksums;
}

namespace {

Config with_data(Config config, const std::string& data) {
  if (data.empty()) return config;
  if (!find_task_kind(config.scene.kind).has_digits)
    throw InputError(
        fmt::format("--data {}: has no effect with scene.kind: {}, which has no digits", data,
                    config.scene.kind));
  config.data = {.source = data};
  check(config.data);
  return config;
}

Tensor<1> averaged(const Checkpoint& checkpoint, const ParameterLayout& layout) {
  Tensor<1> weights = zeros<1>(layout.size());
  checkpoint.restore_averaged(weights, layout);
  return weights;
}

Config tested_config(const Config& trained, const TestedOn& on) {
  Config tested = with_scenes(with_data(trained, on.data), on.scenes);
  if (on.test_scenes > 0) tested.evaluation.scenes = on.test_scenes;
  if (on.draws > 0) tested.evaluation.draws = on.draws;
  return tested;
}

std::vector<Difference> joined(std::vector<Difference> all, std::vector<Difference> more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TestedTask::TestedTask(const Config& trained, const TestedOn& on, SharedDatasets* shared,
                       const std::map<std::string, std::string>& checksums)
    : TestedTask(trained, tested_config(trained, on), on.own, shared,
                 on.data.empty() ? checksums : std::map<std::string, std::string>()) {
  if (!on.scenes.empty()) check_same_agent(with_data(trained, on.data), task);
}

TestedTask::TestedTask(const Config& trained, const Config& tested, const OwnParts& own,
                       SharedDatasets* shared, const std::map<std::string, std::string>& checksums)
    : sources_(own, tested),
      task(tested, shared, sources_.sources()),
      from_training(joined(scene_differences(trained, tested),
                           data_differences(checksums, task.digits.checksums))) {}

Trained::Trained(const std::filesystem::path& run_folder, const TestedOn& on)
    : Trained(Checkpoint(find_checkpoint(run_folder)), run_folder, on) {}

Trained::Trained(const Checkpoint& checkpoint, const std::filesystem::path& run_folder,
                 const TestedOn& on)
    : TestedTask(config_of(checkpoint, run_folder.string()), on,
                 /*shared=*/nullptr, data_checksums(checkpoint)),
      weights(averaged(checkpoint, task.model.layout())) {}

}  // namespace saccade
