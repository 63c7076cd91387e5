#include "experiments/config/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "base/name_table.h"
#include "base/printable.h"
#include "experiments/config/setting_names.h"
#include "experiments/config/study_run.h"
#include "experiments/config/yaml_text.h"

namespace saccade {
namespace {

std::string describe(const YAML::Node& node) {
  if (node.IsScalar()) return fmt::format("'{}'", abridged(node.Scalar()));
  return node.IsMap() ? "a section" : node.IsSequence() ? "a list" : "an empty value";
}

bool is_section(const std::string& key) {
  return std::ranges::find(section_names(), key) != section_names().end();
}

bool names_a_folder(Text text) { return text == Text::word || text == Text::word_or_none; }

// The keys of all sections and settings.
const std::vector<std::string>& all_keys() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> keys = section_names();
    std::ranges::copy(setting_keys(), std::back_inserter(keys));
    return keys;
  }();
  return all;
}

// The keys of a section, without its name.
std::string keys_in(const std::string& section) {
  const std::string prefix = section + ".";
  std::vector<std::string> words;
  for (const std::string& key : all_keys())
    if (key.starts_with(prefix) && key.find('.', prefix.size()) == std::string::npos)
      words.push_back(key.substr(prefix.size()));
  return join(words);
}

}  // namespace

ConfigReader::ConfigReader(Config& config) : config_(config), given_(config.given) {}

YAML::Node load_file(const std::string& text, const std::string& origin) {
  return load_yaml(text, [&](const YAML::Mark& mark) { return place_in(origin, mark); });
}

void ConfigReader::read_file(const YAML::Node& document, const std::string& origin,
                             StudyKeys study) {
  source_ = origin;
  study_ = study;
  source_has_lines_ = true;
  read_section(document, "", document.Mark());
}

void ConfigReader::read_override(const std::string& text) {
  const std::string place = "override '" + abridged(text) + "'";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(place + ": allowed: key.path=value, for example training.learning_rate=0.001");
  read_assignment({text.substr(0, equals), text.substr(equals + 1), place});
}

void ConfigReader::read_assignment(const Assignment& assignment) {
  source_ = assignment.place;
  source_has_lines_ = false;
  const YAML::Mark nowhere;
  const std::string& key = assignment.key;
  if (is_study_key(key)) fail_study(nowhere, key);
  if (is_section(key))
    fail(nowhere, fmt::format("'{}' is a section; its keys: {}", key, keys_in(key)));
  for (const Setting& setting : settings())
    if (key.starts_with(setting.key + "."))
      fail(nowhere,
           fmt::format("{} is not a section; allowed: {}", setting.key, allowed_values(setting)));
  const Setting* setting = find_setting(key);
  if (setting == nullptr) fail_unknown(nowhere, key);
  const auto place_of = [&](const YAML::Mark& mark) { return place(mark); };
  read_setting(load_yaml(assignment.value, place_of), *setting, nowhere);
}

bool is_study_key(const std::string& key) {
  return key == "vary" || key == "seeds" || key == "tuned_by";
}

std::string ConfigReader::place(const YAML::Mark& mark) const {
  return place_in(source_, mark, source_has_lines_);
}

void ConfigReader::read_section(const YAML::Node& node, const std::string& section,
                                const YAML::Mark& mark) {
  if (node.IsNull()) return;
  if (!node.IsMap()) {
    if (section.empty())
      fail(mark, describe(node) + " is not a configuration; allowed: key: value");
    fail(mark, fmt::format("{}: {} is not a section; its keys: {}", section, describe(node),
                           keys_in(section)));
  }
  for (const auto& pair : node) {
    const YAML::Mark key_mark = pair.first.Mark();
    if (!pair.first.IsScalar()) fail(key_mark, describe(pair.first) + " is not a key");
    const std::string key = (section.empty() ? "" : section + ".") + pair.first.Scalar();
    if (is_study_key(key)) {
      seen_.add(key, key_mark, source_, source_has_lines_);
      if (study_ == StudyKeys::ignore) continue;
      fail_study(key_mark, key);
    }
    const Setting* setting = find_setting(key);
    if (setting == nullptr && !is_section(key)) fail_unknown(key_mark, key);
    seen_.add(key, key_mark, source_, source_has_lines_);
    if (setting != nullptr)
      read_setting(pair.second, *setting, key_mark);
    else
      read_section(pair.second, key, key_mark);
  }
}

// `mark` is that of the key, because an empty value has none.
void ConfigReader::read_setting(const YAML::Node& node, const Setting& setting,
                                const YAML::Mark& mark) {
  given_[setting.key] = place(mark);
  const Text* text = std::get_if<Text>(&setting.allowed);
  const bool may_be_null = text != nullptr && *text != Text::word && *text != Text::line;
  if (node.IsNull() && !may_be_null)
    fail(mark, fmt::format("{}: no value; allowed: {}", setting.key, allowed_values(setting)));
  std::visit([&](auto* field) { read(node, setting, *field); }, field_in(config_, setting.field));
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting, bool& field) const {
  if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false"))
    reject(node, setting, "is neither true nor false");
  field = node.Scalar() == "true";
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting,
                        std::integral auto& field) const {
  const auto value = node.IsScalar() ? parse_integer(node.Scalar()) : std::nullopt;
  if (!value) reject(node, setting, "is not an integer");
  if (!std::get<Interval>(setting.allowed).contains(static_cast<double>(*value)))
    reject(node, setting, "is out of range");
  field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting, double& field) const {
  field = number(node, setting, std::get<Interval>(setting.allowed));
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting, std::string& field) const {
  if (node.IsNull()) {
    field.clear();
    return;
  }
  if (!node.IsScalar()) reject(node, setting, "is not text");
  const std::string& text = node.Scalar();
  if (const Names* names = std::get_if<Names>(&setting.allowed)) {
    if (std::find(names->begin(), names->end(), text) == names->end()) {
      const std::optional<std::string> meant = nearest_word(text, *names);
      reject(node, setting, "is unknown" + (meant ? " (did you mean '" + *meant + "'?)" : ""));
    }
  } else if (names_a_folder(std::get<Text>(setting.allowed)) && !is_word(text)) {
    reject(node, setting, "cannot name a folder");
  } else if (text.size() >= PATH_MAX) {
    reject(node, setting,
           fmt::format("has {} bytes, and a path at most {}", text.size(), PATH_MAX - 1));
  }
  field = text;
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting,
                        std::array<int, 2>& field) const {
  if (!node.IsSequence() || node.size() != field.size())
    reject(node, setting, "is not a list of two");
  for (std::size_t i = 0; i < field.size(); ++i) read(node[i], setting, field[i]);
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting,
                        std::vector<double>& field) const {
  constexpr std::size_t kMostChannels = 3;
  const Interval& range = std::get<Interval>(setting.allowed);
  field.clear();
  if (node.IsSequence()) {
    if (node.size() < 1 || node.size() > kMostChannels)
      reject(node, setting, fmt::format("of {} numbers", node.size()));
    for (const YAML::Node& one : node) field.push_back(number(one, setting, range));
  } else {
    field.push_back(number(node, setting, range));
  }
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting,
                        std::vector<std::string>& field) const {
  if (!node.IsSequence()) reject(node, setting, "is not a list");
  field.clear();
  const bool any_text = std::holds_alternative<Text>(setting.allowed);
  for (const YAML::Node& one : node) {
    if (!one.IsScalar() || !(any_text || is_word(one.Scalar())))
      reject(one, setting, "is not such a name");
    field.push_back(one.Scalar());
  }
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting, Ramp& field) const {
  constexpr Interval kShare = {.low = 0.0, .high = 1.0, .with_low = false};
  const Interval& range = std::get<Interval>(setting.allowed);
  if (!node.IsMap()) {
    const double value = number(node, setting, range);
    field = {value, value, 1.0};
    return;
  }
  field = {0.0, 0.0, 1.0};
  read_parts(node, setting,
             {{"from", {&field.from, range}},
              {"to", {&field.to, range}},
              {"over", {&field.over, kShare, /*required=*/false}}});
}

void ConfigReader::read(const YAML::Node& node, const Setting& setting, LogRange& field) const {
  const Interval& range = std::get<Interval>(setting.allowed);
  if (!node.IsMap()) {
    const double value = number(node, setting, range);
    field = {value, value};
    return;
  }
  read_parts(node, setting, {{"from", {&field.from, range}}, {"to", {&field.to, range}}});
  if (field.from > field.to)
    fail(node.Mark(), fmt::format("{}: from {} to {} goes down; allowed: {}", setting.key,
                                  field.from, field.to, allowed_values(setting)));
}

void ConfigReader::read_parts(const YAML::Node& node, const Setting& setting,
                              std::map<std::string, Part> missing) const {
  for (const auto& pair : node) {
    const auto part = pair.first.IsScalar() ? missing.find(pair.first.Scalar()) : missing.end();
    if (part == missing.end()) reject(pair.first, setting, "is unknown or repeated");
    *part->second.value = number(pair.second, setting, part->second.range);
    missing.erase(part);
  }
  std::erase_if(missing, [](const auto& part) { return !part.second.required; });
  if (!missing.empty()) reject(node, setting, "without '" + missing.begin()->first + "'");
}

double ConfigReader::number(const YAML::Node& node, const Setting& setting,
                            const Interval& range) const {
  const auto value = node.IsScalar() ? parse_number(node.Scalar()) : std::nullopt;
  if (!value) reject(node, setting, "is not a number");
  if (!range.contains(*value)) reject(node, setting, "is out of range");
  return *value;
}

void ConfigReader::fail(const YAML::Mark& mark, const std::string& message) const {
  throw InputError(place(mark) + ": " + message);
}

void ConfigReader::fail_study(const YAML::Mark& mark, const std::string& key) const {
  fail(mark, key + " is a key of studies, not of one run; `saccade run` runs studies");
}

void ConfigReader::fail_unknown(const YAML::Mark& mark, const std::string& key) const {
  fail(mark, fmt::format("unknown key '{}'; did you mean '{}'?", abridged(key),
                         nearest_key(key, all_keys())));
}

void ConfigReader::reject(const YAML::Node& node, const Setting& setting,
                          const std::string& fault) const {
  fail(node.Mark(), fmt::format("{}: {} {}; allowed: {}", setting.key, describe(node), fault,
                                allowed_values(setting)));
}

}  // namespace saccade
