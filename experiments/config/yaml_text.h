#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>
#include <string>

namespace saccade {

/// More keys and values than any configuration has: a study can list some thousands.
inline constexpr int kMostYamlValues = 50'000;

/// Parses a text that holds one document. Throws InputError if it is not UTF-8 or not YAML, has
/// several documents, or more than kMostYamlValues; `place` turns a mark into text.
YAML::Node load_yaml(const std::string& text,
                     const std::function<std::string(const YAML::Mark&)>& place);

/// "study.yaml:7:3"; the source alone if it has no lines, as an override.
std::string place_in(const std::string& source, const YAML::Mark& mark, bool has_lines = true);

/// The keys of a map or file so far, to refuse a repeated one, which yaml-cpp accepts.
class SeenKeys {
 public:
  /// Throws InputError if the key was added before. `source` and `has_lines` as for place_in().
  void add(const std::string& key, const YAML::Mark& mark, const std::string& source,
           bool has_lines = true);

 private:
  std::map<std::string, int> lines_;  // where each key first occurs
};

}  // namespace saccade
