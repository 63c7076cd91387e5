#include "experiments/config/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <concepts>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "experiments/config/config_table.h"
#include "nn/error.h"
#include "nn/name_table.h"

namespace saccade {
namespace {

std::string describe(const YAML::Node& node) {
  if (node.IsScalar()) return "'" + node.Scalar() + "'";
  return node.IsMap() ? "a section" : node.IsSequence() ? "a list" : "an empty value";
}

// Writes what a file and overrides say into the fields that the table is bound to.
class Reader {
 public:
  explicit Reader(Config& config)
      : table_(settings(config)), sections_(section_names(table_)), keys_(sections_) {
    for (const Setting& setting : table_) keys_.push_back(setting.key);
  }

  /// `of_study`: passes over the keys that make several runs of a file.
  void read_file(const std::string& text, const std::string& origin, bool of_study);
  void read_assignment(const Assignment& assignment);
  void read_override(const std::string& text);

  const GivenKeys& given() const { return given_; }

 private:
  const Setting* find(const std::string& key) const;
  bool is_section(const std::string& key) const;
  std::string keys_of(const std::string& section) const;
  std::string place(const YAML::Mark& mark) const;
  std::vector<YAML::Node> load(const std::string& text) const;

  void read_section(const YAML::Node& node, const std::string& section, const YAML::Mark& mark);
  void read_setting(const YAML::Node& node, const Setting& setting, const YAML::Mark& mark);

  void read(const YAML::Node& node, const Setting& setting, bool& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::integral auto& field) const;
  void read(const YAML::Node& node, const Setting& setting, double& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::string& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::array<int, 2>& field) const;
  void read(const YAML::Node& node, const Setting& setting, Ramp& field) const;
  double number(const YAML::Node& node, const Setting& setting, const Interval& range) const;

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
    throw InputError(place(mark) + ": " + message);
  }
  [[noreturn]] void fail_unknown(const YAML::Mark& mark, const std::string& key) const {
    fail(mark, fmt::format("unknown key '{}'; did you mean '{}'?", key, nearest_key(key, keys_)));
  }
  [[noreturn]] void reject(const YAML::Node& node, const Setting& setting,
                           const std::string& fault) const {
    fail(node.Mark(), fmt::format("{}: {} {}; allowed: {}", setting.key, describe(node), fault,
                                  allowed_values(setting)));
  }

  std::vector<Setting> table_;
  std::vector<std::string> sections_;
  std::vector<std::string> keys_;  // of sections and of settings
  std::string source_;             // what is being read: a file, or "override 'key=value'"
  bool source_has_lines_ = false;
  bool passes_over_study_ = false;
  std::map<std::string, int> lines_;  // where this file has each key and section
  GivenKeys given_;
};

void Reader::read_file(const std::string& text, const std::string& origin, bool of_study) {
  source_ = origin;
  passes_over_study_ = of_study;
  source_has_lines_ = true;
  const std::vector<YAML::Node> documents = load(text);
  if (documents.size() > 1)
    fail(documents[1].Mark(), "a second YAML document ('---'); allowed: one");
  if (!documents.empty()) read_section(documents[0], "", documents[0].Mark());
}

void Reader::read_override(const std::string& text) {
  const std::string place = "override '" + text + "'";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError(place + ": allowed: key.path=value, for example training.learning_rate=0.001");
  read_assignment({text.substr(0, equals), text.substr(equals + 1), place});
}

void Reader::read_assignment(const Assignment& assignment) {
  source_ = assignment.place;
  source_has_lines_ = false;
  const YAML::Mark nowhere;
  const std::string& key = assignment.key;
  if (is_section(key))
    fail(nowhere, fmt::format("'{}' is a section; its keys: {}", key, keys_of(key)));
  for (const Setting& setting : table_)
    if (key.starts_with(setting.key + "."))
      fail(nowhere,
           fmt::format("{} is no section; allowed: {}", setting.key, allowed_values(setting)));
  const Setting* setting = find(key);
  if (setting == nullptr) fail_unknown(nowhere, key);
  const std::vector<YAML::Node> values = load(assignment.value);
  read_setting(values.empty() ? YAML::Node() : values[0], *setting, nowhere);
}

const Setting* Reader::find(const std::string& key) const {
  const auto found = std::find_if(table_.begin(), table_.end(),
                                  [&](const Setting& setting) { return setting.key == key; });
  return found == table_.end() ? nullptr : &*found;
}

bool Reader::is_section(const std::string& key) const {
  return std::find(sections_.begin(), sections_.end(), key) != sections_.end();
}

std::string Reader::keys_of(const std::string& section) const {
  const std::string prefix = section + ".";
  std::vector<std::string> words;
  for (const std::string& key : keys_)
    if (key.starts_with(prefix) && key.find('.', prefix.size()) == std::string::npos)
      words.push_back(key.substr(prefix.size()));
  return join(words);
}

std::string Reader::place(const YAML::Mark& mark) const {
  if (!source_has_lines_ || mark.is_null()) return source_;
  return fmt::format("{}:{}:{}", source_, mark.line + 1, mark.column + 1);
}

std::vector<YAML::Node> Reader::load(const std::string& text) const {
  try {
    return YAML::LoadAll(text);
  } catch (const YAML::Exception& error) {
    fail(error.mark, "not valid YAML: " + error.msg);
  }
}

void Reader::read_section(const YAML::Node& node, const std::string& section,
                          const YAML::Mark& mark) {
  if (node.IsNull()) return;
  if (!node.IsMap()) {
    if (section.empty()) fail(mark, describe(node) + " is no configuration; allowed: key: value");
    fail(mark, fmt::format("{}: {} is no section; its keys: {}", section, describe(node),
                           keys_of(section)));
  }
  for (const auto& pair : node) {
    const YAML::Mark key_mark = pair.first.Mark();
    if (!pair.first.IsScalar()) fail(key_mark, describe(pair.first) + " is no key");
    const std::string key = (section.empty() ? "" : section + ".") + pair.first.Scalar();
    if (key == "vary" || key == "seeds") {
      if (passes_over_study_) continue;
      fail(key_mark, key + " makes this a study of several runs; `saccade run` runs one");
    }
    const Setting* setting = find(key);
    if (setting == nullptr && !is_section(key)) fail_unknown(key_mark, key);
    const auto [first, is_new] = lines_.emplace(key, key_mark.line + 1);
    if (!is_new)
      fail(key_mark, fmt::format("repeated key '{}'; line {} has it already", key, first->second));
    if (setting != nullptr)
      read_setting(pair.second, *setting, key_mark);
    else
      read_section(pair.second, key, key_mark);
  }
}

// `mark` is the key's. An empty value has no place of its own.
void Reader::read_setting(const YAML::Node& node, const Setting& setting, const YAML::Mark& mark) {
  given_[setting.key] = place(mark);
  const Text* text = std::get_if<Text>(&setting.allowed);
  const bool may_be_null = text != nullptr && *text == Text::path;
  if (node.IsNull() && !may_be_null)
    fail(mark, fmt::format("{}: no value; allowed: {}", setting.key, allowed_values(setting)));
  std::visit([&](auto* field) { read(node, setting, *field); }, setting.field);
}

void Reader::read(const YAML::Node& node, const Setting& setting, bool& field) const {
  if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false"))
    reject(node, setting, "is neither true nor false");
  field = node.Scalar() == "true";
}

void Reader::read(const YAML::Node& node, const Setting& setting, std::integral auto& field) const {
  const auto value = node.IsScalar() ? parse_integer(node.Scalar()) : std::nullopt;
  if (!value) reject(node, setting, "is not an integer");
  if (!std::get<Interval>(setting.allowed).contains(static_cast<double>(*value)))
    reject(node, setting, "is out of range");
  field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
}

void Reader::read(const YAML::Node& node, const Setting& setting, double& field) const {
  field = number(node, setting, std::get<Interval>(setting.allowed));
}

void Reader::read(const YAML::Node& node, const Setting& setting, std::string& field) const {
  if (node.IsNull()) {
    field.clear();
    return;
  }
  if (!node.IsScalar()) reject(node, setting, "is not text");
  const std::string& text = node.Scalar();
  if (const Names* names = std::get_if<Names>(&setting.allowed)) {
    if (std::find(names->begin(), names->end(), text) == names->end())
      reject(node, setting, "is unknown");
  } else if (std::get<Text>(setting.allowed) == Text::word && !is_word(text)) {
    reject(node, setting, "cannot name a folder");
  }
  field = text;
}

void Reader::read(const YAML::Node& node, const Setting& setting, std::array<int, 2>& field) const {
  if (!node.IsSequence() || node.size() != field.size())
    reject(node, setting, "is not a list of two");
  for (std::size_t i = 0; i < field.size(); ++i) read(node[i], setting, field[i]);
}

void Reader::read(const YAML::Node& node, const Setting& setting, Ramp& field) const {
  constexpr Interval kShare = {0.0, 1.0, false, true};
  const Interval& range = std::get<Interval>(setting.allowed);
  if (!node.IsMap()) {
    const double value = number(node, setting, range);
    field = {value, value, 1.0};
    return;
  }
  field = {0.0, 0.0, 1.0};
  struct Part {
    double* value;
    const Interval& range;
  };
  std::map<std::string, Part> missing = {
      {"from", {&field.from, range}}, {"to", {&field.to, range}}, {"over", {&field.over, kShare}}};
  for (const auto& pair : node) {
    const auto part = pair.first.IsScalar() ? missing.find(pair.first.Scalar()) : missing.end();
    if (part == missing.end()) reject(pair.first, setting, "is unknown or repeated");
    *part->second.value = number(pair.second, setting, part->second.range);
    missing.erase(part);
  }
  missing.erase("over");
  if (!missing.empty()) reject(node, setting, "without '" + missing.begin()->first + "'");
}

double Reader::number(const YAML::Node& node, const Setting& setting, const Interval& range) const {
  const auto value = node.IsScalar() ? parse_number(node.Scalar()) : std::nullopt;
  if (!value) reject(node, setting, "is not a number");
  if (!range.contains(*value)) reject(node, setting, "is out of range");
  return *value;
}

Config parse(const std::string& text, const std::string& origin, bool of_study,
             std::span<const Assignment> assignments, std::span<const std::string> overrides) {
  Config config;
  Reader reader(config);
  reader.read_file(text, origin, of_study);
  for (const Assignment& assignment : assignments) reader.read_assignment(assignment);
  for (const std::string& override : overrides) reader.read_override(override);
  resolve(config, reader.given());
  return config;
}

}  // namespace

std::string read_config_text(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    throw InputError(path.string() + ": cannot be read: " + why);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::generic_category().message(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

Config read_config(const std::filesystem::path& path, std::span<const std::string> overrides) {
  return parse_config(read_config_text(path), path.string(), overrides);
}

Config parse_config(const std::string& text, const std::string& origin,
                    std::span<const std::string> overrides) {
  return parse(text, origin, false, {}, overrides);
}

Config parse_study_run(const std::string& text, const std::string& origin,
                       std::span<const Assignment> assignments,
                       std::span<const std::string> overrides) {
  return parse(text, origin, true, assignments, overrides);
}

}  // namespace saccade
