#include "experiments/config/settings_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "agent/model/settings.h"
#include "base/error.h"

namespace saccade {
namespace {

// write() gives the JSON of a field's value, read() sets a field.

nlohmann::json write(const auto& value) { return value; }
nlohmann::json write(const Ramp& ramp) {
  return {{"from", ramp.from}, {"to", ramp.to}, {"over", ramp.over}};
}
nlohmann::json write(const LogRange& range) { return {{"from", range.from}, {"to", range.to}}; }

[[noreturn]] void reject(const Setting& setting, const nlohmann::json& json) {
  throw InputError(
      fmt::format("{}: {}; allowed: {}", setting.key, json.dump(), allowed_values(setting)));
}

// Whether a number lies in the range of the setting.
bool is_allowed(const Setting& setting, double value) {
  const Interval* range = std::get_if<Interval>(&setting.allowed);
  return range == nullptr || range->contains(value);
}

void read(const Setting& setting, const nlohmann::json& json, bool& field) {
  if (!json.is_boolean()) reject(setting, json);
  field = json.get<bool>();
}

template <class T>
requires(std::is_integral_v<T>) void read(const Setting& setting, const nlohmann::json& json,
                                          T& field) {
  if (!json.is_number_integer() || !is_allowed(setting, json.get<double>())) reject(setting, json);
  field = json.get<T>();
}

void read(const Setting& setting, const nlohmann::json& json, double& field) {
  if (!json.is_number() || !is_allowed(setting, json.get<double>())) reject(setting, json);
  field = json.get<double>();
}

void read(const Setting& setting, const nlohmann::json& json, std::string& field) {
  if (!json.is_string()) reject(setting, json);
  const std::string text = json.get<std::string>();
  const Names* names = std::get_if<Names>(&setting.allowed);
  if (names != nullptr && std::ranges::find(*names, text) == names->end()) reject(setting, json);
  field = text;
}

void read(const Setting& setting, const nlohmann::json& json, std::array<int, 2>& field) {
  if (!json.is_array() || json.size() != field.size()) reject(setting, json);
  for (std::size_t i = 0; i < field.size(); ++i) read(setting, json[i], field[i]);
}

template <class T>
void read(const Setting& setting, const nlohmann::json& json, std::vector<T>& field) {
  if (!json.is_array()) reject(setting, json);
  field.resize(json.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (!json[i].is_string()) reject(setting, json);
      field[i] = json[i].get<std::string>();
    } else {
      read(setting, json[i], field[i]);
    }
  }
}

const nlohmann::json& part(const Setting& setting, const nlohmann::json& json, const char* name) {
  if (!json.is_object() || !json.contains(name)) reject(setting, json);
  return json[name];
}

void read(const Setting& setting, const nlohmann::json& json, Ramp& field) {
  read(setting, part(setting, json, "from"), field.from);
  read(setting, part(setting, json, "to"), field.to);
  const nlohmann::json& over = part(setting, json, "over");
  if (!over.is_number() || !(over.get<double>() > 0.0 && over.get<double>() <= 1.0))
    reject(setting, json);
  field.over = over.get<double>();
}

void read(const Setting& setting, const nlohmann::json& json, LogRange& field) {
  read(setting, part(setting, json, "from"), field.from);
  read(setting, part(setting, json, "to"), field.to);
  if (field.from > field.to) reject(setting, json);
}

bool is_path(const Setting& setting) {
  const Text* text = std::get_if<Text>(&setting.allowed);
  return text != nullptr && *text == Text::path;
}

}  // namespace

Settings world_settings(Config& config) {
  Settings all;
  append(all, describe(config.data));
  append(all, describe(config.pixels));
  append(all, describe(config.augmentation, &config.scene.num_distractors));
  append(all, describe(config.scene));
  append(all, describe(config.retina));
  append(all, describe(config.agent, config.scene));
  std::erase_if(all, is_path);
  return all;
}

std::string to_json(const Settings& settings) {
  nlohmann::json json = nlohmann::json::object();
  for (const Setting& setting : settings)
    json[setting.key] = std::visit([](const auto* field) { return write(*field); }, setting.field);
  return json.dump();
}

void read_json(const Settings& settings, const std::string& json) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw InputError("settings: not a JSON object");
  for (const auto& [key, value] : object.items()) {
    const auto setting = std::ranges::find(settings, key, &Setting::key);
    if (setting == settings.end()) throw InputError(fmt::format("unknown setting '{}'", key));
    std::visit([&](auto* field) { read(*setting, value, *field); }, setting->field);
  }
}

}  // namespace saccade
