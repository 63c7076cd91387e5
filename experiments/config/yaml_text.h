#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>
#include <string>

namespace saccade {

/// Keys and values that no configuration has: a study can list some thousands.
inline constexpr int kMostYamlValues = 50'000;

/// The one document of a text. Throws InputError where it is not UTF-8, no YAML, several documents
/// or has more than kMostYamlValues; `place` says where a mark is.
YAML::Node load_yaml(const std::string& text,
                     const std::function<std::string(const YAML::Mark&)>& place);

/// "study.yaml:7:3"; the name alone of an override, which has no lines.
std::string place_in(const std::string& source, const YAML::Mark& mark, bool has_lines = true);

/// The keys of a map or of a file so far, to refuse one that is repeated: YAML takes any of them.
class SeenKeys {
 public:
  /// Throws InputError if the key was added before. `source` and `has_lines` as for place_in().
  void add(const std::string& key, const YAML::Mark& mark, const std::string& source,
           bool has_lines = true);

 private:
  std::map<std::string, int> lines_;  // where each key stands first
};

}  // namespace saccade
