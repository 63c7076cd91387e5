#pragma once

#include <yaml-cpp/yaml.h>

#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "experiments/config/config_table.h"
#include "experiments/config/study_run.h"

namespace saccade {

/// What to do with the keys that make several runs of a file: `vary` and `seeds`.
enum class StudyKeys { refused, passed_over };

/// Writes what a file and overrides say into the fields that the table is bound to.
class ConfigReader {
 public:
  /// Binds the table to `config`, which outlives this and says what was given before.
  explicit ConfigReader(Config& config);

  void read_file(const std::string& text, const std::string& origin, StudyKeys study);
  void read_assignment(const Assignment& assignment);
  void read_override(const std::string& text);

  const GivenKeys& given() const { return given_; }

 private:
  const Setting* find(const std::string& key) const;
  bool is_section(const std::string& key) const;
  std::string keys_of(const std::string& section) const;
  std::string place(const YAML::Mark& mark) const;

  void read_section(const YAML::Node& node, const std::string& section, const YAML::Mark& mark);
  void read_setting(const YAML::Node& node, const Setting& setting, const YAML::Mark& mark);

  void read(const YAML::Node& node, const Setting& setting, bool& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::integral auto& field) const;
  void read(const YAML::Node& node, const Setting& setting, double& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::string& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::array<int, 2>& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::vector<double>& field) const;
  void read(const YAML::Node& node, const Setting& setting, std::vector<std::string>& field) const;
  void read(const YAML::Node& node, const Setting& setting, Ramp& field) const;
  double number(const YAML::Node& node, const Setting& setting, const Interval& range) const;

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const;
  [[noreturn]] void fail_unknown(const YAML::Mark& mark, const std::string& key) const;
  [[noreturn]] void reject(const YAML::Node& node, const Setting& setting,
                           const std::string& fault) const;

  std::vector<Setting> table_;
  std::vector<std::string> sections_;
  std::vector<std::string> keys_;  // of sections and of settings
  std::string source_;             // what is being read: a file, or "override 'key=value'"
  bool source_has_lines_ = false;
  StudyKeys study_ = StudyKeys::refused;
  std::map<std::string, int> lines_;  // where this file has each key and section
  GivenKeys given_;
};

}  // namespace saccade
