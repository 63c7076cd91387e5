#pragma once

#include <yaml-cpp/yaml.h>

#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "experiments/config/settings.h"
#include "experiments/config/study_run.h"
#include "experiments/config/yaml_text.h"

namespace saccade {

/// What to do with the keys of studies (is_study_key).
enum class StudyKeys { refuse, ignore };

/// Parses a file; `origin` stands for its name in messages.
YAML::Node load_file(const std::string& text, const std::string& origin);

/// Writes what a file and overrides say into a Config.
class ConfigReader {
 public:
  /// Writes into `config`, which must outlive this. Its `given` is where given() begins.
  explicit ConfigReader(Config& config);

  /// Reads a whole file from load_file(). `origin` stands for its name in messages.
  void read_file(const YAML::Node& document, const std::string& origin, StudyKeys study);
  void read_assignment(const Assignment& assignment);
  void read_override(const std::string& text);

  const GivenKeys& given() const { return given_; }

 private:
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
  void read(const YAML::Node& node, const Setting& setting, LogRange& field) const;
  double number(const YAML::Node& node, const Setting& setting, const Interval& range) const;

  // One of the named numbers of a setting, such as `from` of a ramp.
  struct Part {
    double* value;
    const Interval& range;
    bool required = true;
  };
  void read_parts(const YAML::Node& node, const Setting& setting,
                  std::map<std::string, Part> missing) const;

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const;
  [[noreturn]] void fail_study(const YAML::Mark& mark, const std::string& key) const;
  [[noreturn]] void fail_unknown(const YAML::Mark& mark, const std::string& key) const;
  [[noreturn]] void reject(const YAML::Node& node, const Setting& setting,
                           const std::string& fault) const;

  Config& config_;
  std::string source_;  // what is being read: a file, or "override 'key=value'"
  bool source_has_lines_ = false;
  StudyKeys study_ = StudyKeys::refuse;
  SeenKeys seen_;  // keys and sections of this file
  GivenKeys given_;
};

}  // namespace saccade
