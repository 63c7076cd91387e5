#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "experiments/config/config.h"
#include "experiments/config/settings.h"

namespace saccade {
namespace {

// Whether every reader of YAML, 1.1 or 1.2, reads unquoted `text` as this text: it looks like a
// word or a path, and is no word that means true, false or null. Numbers, dates and times look
// different (01101 is octal to some readers, 1:30 sexagesimal).
bool is_plain(const std::string& text) {
  constexpr std::array kMeaning = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto inner = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || std::string_view("_-./").find(c) < 4;
  };
  std::string lower = text;
  for (char& c : lower)
    if (letter(c)) c = static_cast<char>(c | 0x20);
  return !text.empty() && (letter(text[0]) || text[0] == '/') && std::ranges::all_of(text, inner) &&
         std::ranges::find(kMeaning, lower) == kMeaning.end();
}

// A value as YAML.
struct Write {
  std::string operator()(const bool* field) const { return *field ? "true" : "false"; }
  std::string operator()(const std::array<int, 2>* field) const {
    return fmt::format("[{}, {}]", (*field)[0], (*field)[1]);
  }
  std::string operator()(const std::vector<double>* field) const {
    if (field->size() == 1) return fmt::format("{}", field->front());
    return fmt::format("[{}]", fmt::join(*field, ", "));
  }
  std::string operator()(const std::vector<std::string>* field) const {
    std::vector<std::string> words;
    for (const std::string& word : *field) words.push_back((*this)(&word));
    return fmt::format("[{}]", fmt::join(words, ", "));
  }
  std::string operator()(const Ramp* field) const {
    const auto& [from, to, over] = *field;
    if (from == to && over == 1.0) return fmt::format("{}", from);
    return fmt::format("{{from: {}, to: {}, over: {}}}", from, to, over);
  }
  std::string operator()(const LogRange* field) const {
    if (field->is_point()) return fmt::format("{}", field->from);
    return fmt::format("{{from: {}, to: {}}}", field->from, field->to);
  }
  std::string operator()(const std::string* field) const {
    if (field->empty()) return "null";
    if (is_plain(*field)) return *field;
    YAML::Emitter quoted;
    quoted << YAML::DoubleQuoted << *field;
    return quoted.c_str();
  }
  // The shortest text that reads back as the same number.
  std::string operator()(const auto* field) const { return fmt::format("{}", *field); }
};

std::string write(const Config& config, const Setting& setting) {
  return std::visit(Write{}, field_in(config, setting.field));
}

}  // namespace

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  for (const Setting& setting : settings()) keys.push_back(setting.key);
  return keys;
}

std::string value_of(const Config& config, const std::string& key) {
  const Setting* setting = find_setting(key);
  if (setting == nullptr) throw std::logic_error("no setting '" + key + "'");
  return write(config, *setting);
}

std::map<std::string, std::string> values_of(const Config& config) {
  std::map<std::string, std::string> values;
  for (const Setting& setting : settings()) values.emplace(setting.key, write(config, setting));
  return values;
}

std::vector<Difference> differences(const Config& first, const Config& second) {
  std::vector<Difference> found;
  for (const Setting& setting : settings()) {
    Difference d{setting.key, write(first, setting), write(second, setting)};
    if (d.first != d.second) found.push_back(std::move(d));
  }
  return found;
}

bool is_longer(const Config& longer, const Config& config) {
  Config same = longer;
  same.agent.training.episodes = config.agent.training.episodes;
  return longer.agent.training.episodes > config.agent.training.episodes &&
         differences(same, config).empty();
}

std::string to_yaml(const Config& config) { return to_yaml(config, {}); }

std::string to_yaml(const Config& config, const std::map<std::string, std::string>& notes) {
  constexpr std::size_t kAboutColumn = 40;
  std::string yaml;
  std::vector<std::string> begun;
  for (const Setting& setting : settings()) {
    std::size_t word = 0;  // where the current word of the key begins
    std::string indent;
    for (std::size_t dot; (dot = setting.key.find('.', word)) != std::string::npos;
         word = dot + 1) {
      const std::string section = setting.key.substr(0, dot);
      if (std::find(begun.begin(), begun.end(), section) == begun.end()) {
        yaml += indent + setting.key.substr(word, dot - word) + ":\n";
        begun.push_back(section);
      }
      indent += "  ";
    }
    const std::string line = indent + setting.key.substr(word) + ": " + write(config, setting);
    const auto note = notes.find(setting.key);
    yaml += fmt::format("{:<{}}  # {}\n", line, kAboutColumn,
                        note == notes.end() ? setting.about : note->second);
  }
  return yaml;
}

}  // namespace saccade
