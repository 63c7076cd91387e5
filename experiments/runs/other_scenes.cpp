#include "experiments/runs/other_scenes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/looking/looking.h"
#include "base/error.h"
#include "base/printable.h"

namespace saccade {
namespace {

const std::string kDataKey = "data_crc32.";

constexpr const char* kAllowed =
    "allowed: settings of scenes that leave the agent's answers and its network as they are";

bool is_of_scenes(const std::string& key) { return key.starts_with("scene."); }

// A grid covers another canvas by itself.
bool follows_canvas(const std::string& key) {
  return key == "attention.glimpse.grid" || key == "attention.glimpse.stride";
}

// Scenes without digits read nothing of a dataset.
bool is_of_unread_digits(const std::string& key, const Config& tested) {
  return key.starts_with("data.") && !find_task_kind(tested.scene.kind).has_digits;
}

void check_key(const std::string& override) {
  const std::string key = override.substr(0, override.find('='));
  if (is_of_scenes(key)) return;
  std::vector<std::string> allowed = setting_keys();
  std::erase_if(allowed, [](const std::string& one) { return !is_of_scenes(one); });
  throw InputError(
      fmt::format("'{}': not a setting of scenes, which alone may differ from the "
                  "training; allowed: {}",
                  abridged(override), fmt::join(allowed, ", ")));
}

// What is given here is meant to have an effect.
void check_effects(const Config& tested) {
  for (const UnusedSetting& setting : tested.unused)
    if (setting.place.starts_with("override"))
      throw InputError(fmt::format("{}: {} has no effect while {}; allowed: settings that have one",
                                   setting.place, setting.key, setting.reason));
}

void spread_grid(Config& tested, const Config& trained) {
  const std::array<int, 2>&was = trained.scene.canvas, &is = tested.scene.canvas;
  if (was == is || !find_glimpse_kind(trained.agent.glimpse.kind).has_candidates) return;
  const GridConfig& grid = trained.agent.glimpse.grid;
  GridConfig by_default = grid;
  spread_over(by_default, was[0], was[1]);
  if (by_default.cells == grid.cells && by_default.stride == grid.stride)
    spread_over(tested.agent.glimpse.grid, is[0], is[1]);
}

// "scene.num_digits: 2, scene.canvas: [100, 100]"
std::string named(std::span<const Difference> changed) {
  std::vector<std::string> settings;
  for (const Difference& d : changed) settings.push_back(fmt::format("{}: {}", d.key, d.second));
  return fmt::format("{}", fmt::join(settings, ", "));
}

void check_agent_settings(const Config& trained, const Config& tested) {
  for (const Difference& d : differences(trained, tested))
    if (!is_of_scenes(d.key) && !follows_canvas(d.key) && !is_of_unread_digits(d.key, tested))
      throw InputError(fmt::format("{}: with these scenes {} is {}, and not {} as in training; {}",
                                   named(scene_differences(trained, tested)), d.key, d.second,
                                   d.first, kAllowed));
}

// Returns the first parameter in which two networks differ, with both its shapes.
std::optional<std::string> other_parameter(const ParameterLayout& trained,
                                           const ParameterLayout& tested) {
  const auto text = [](const ParameterLayout& layout, std::size_t i) {
    if (i >= layout.parameters().size()) return std::string("nothing");
    const Parameter& p = layout.parameters()[i];
    return fmt::format("{} ({}, {})", p.name, p.rows, p.cols);
  };
  const std::size_t most = std::max(trained.parameters().size(), tested.parameters().size());
  for (std::size_t i = 0; i < most; ++i)
    if (const std::string was = text(trained, i), is = text(tested, i); was != is)
      return fmt::format("{} instead of {}", is, was);
  return std::nullopt;
}

[[noreturn]] void fail(const Config& trained, const Task& tested, const std::string& fault) {
  throw InputError(
      fmt::format("{}: {}; {}", named(scene_differences(trained, tested.config)), fault, kAllowed));
}

void check_same_kind(const Config& trained, const Task& tested) {
  const TaskKind& kind = find_task_kind(trained.scene.kind);
  if (kind.answer != tested.kind.answer || kind.is_text != tested.kind.is_text ||
      kind.gives_glimpses != tested.kind.gives_glimpses)
    fail(trained, tested,
         fmt::format("another kind of task than scene.kind: {}", trained.scene.kind));
}

// Of a value as YAML; of a checksum, which may consist of digits, and of one that is no JSON, the
// text.
nlohmann::ordered_json json_of(const std::string& key, const std::string& yaml) {
  if (key.starts_with(kDataKey)) return yaml;
  auto value = nlohmann::ordered_json::parse(yaml, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? nlohmann::ordered_json(yaml) : value;
}

}  // namespace

Config with_scenes(const Config& trained, const SceneOverrides& scenes) {
  if (scenes.empty()) return trained;
  for (const std::string& override : scenes) check_key(override);
  Config tested = parse_config(to_yaml(trained), "the agent's configuration", scenes);
  check_effects(tested);
  spread_grid(tested, trained);
  check_agent_settings(trained, tested);
  return tested;
}

void check_same_agent(const Config& trained, const Task& tested) {
  const TaskKind& kind = find_task_kind(trained.scene.kind);
  check_same_kind(trained, tested);
  // The weights then tell whether they fit, without the digits of the training.
  if (kind.has_digits && !tested.kind.has_digits) return;
  // Shares the digits of `tested`, which outlive it.
  check_same_agent(
      Task(trained, std::shared_ptr<const Digits>(std::shared_ptr<void>(), &tested.digits)),
      tested);
}

void check_same_agent(const Task& trained, const Task& tested) {
  check_same_kind(trained.config, tested);
  if (trained.spec.num_classes != tested.spec.num_classes)
    fail(trained.config, tested,
         fmt::format("{} answers, and the agent knows {}", tested.spec.num_classes,
                     trained.spec.num_classes));
  if (const auto other = other_parameter(trained.model.layout(), tested.model.layout()))
    fail(trained.config, tested, fmt::format("the network would have {}", *other));
}

std::vector<Difference> scene_differences(const Config& trained, const Config& tested) {
  std::vector<Difference> all = differences(trained, tested);
  std::erase_if(all, [&](const Difference& d) {
    return !is_of_scenes(d.key) && (d.key != "data.source" || is_of_unread_digits(d.key, tested));
  });
  return all;
}

std::vector<Difference> data_differences(const std::map<std::string, std::string>& trained,
                                         const std::map<std::string, std::string>& tested) {
  if (trained.empty() || tested.empty()) return {};
  std::map<std::string, Difference> files;
  for (const auto& [file, checksum] : trained) files[file].first = checksum;
  for (const auto& [file, checksum] : tested) files[file].second = checksum;
  std::vector<Difference> all;
  for (const auto& [file, d] : files)
    if (d.first != d.second)
      all.push_back({kDataKey + file, d.first.empty() ? "none" : d.first,
                     d.second.empty() ? "none" : d.second});
  return all;
}

std::string to_text(std::span<const Difference> from_training) {
  std::vector<std::string> settings;
  for (const Difference& d : from_training)
    settings.push_back(fmt::format("{} {} ({} in training)", d.key, d.second, d.first));
  return fmt::format("{}", fmt::join(settings, ", "));
}

std::string word_on_training(std::span<const Difference> from_training) {
  return from_training.empty() ? "" : "not as in training: " + to_text(from_training) + "\n";
}

nlohmann::ordered_json to_json(std::span<const Difference> from_training) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const Difference& d : from_training)
    document[d.key] = {{"training", json_of(d.key, d.first)}, {"test", json_of(d.key, d.second)}};
  return document;
}

}  // namespace saccade
