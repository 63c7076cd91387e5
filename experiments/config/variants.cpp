#include "experiments/config/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <set>

#include "experiments/config/unused_settings.h"

namespace saccade {
namespace {

using Labels = std::vector<std::string>;  // one a configuration

bool begins_with(const std::string& key, std::initializer_list<const char*> beginnings) {
  return std::ranges::any_of(beginnings, [&](const char* b) { return key.starts_with(b); });
}

std::size_t count_distinct(const Labels& labels) {
  return std::set(labels.begin(), labels.end()).size();
}

// "soft_grid", but "num_glimpses 4": words say what they are, numbers do not.
std::string spoken(const std::string& key, const std::string& value) {
  const bool is_word = std::isalpha(static_cast<unsigned char>(value[0])) != 0;
  if (is_word && value != "true" && value != "false" && value != "null") return value;
  return key.substr(key.rfind('.') + 1) + " " + value;
}

}  // namespace

std::string task_difference(const Config& first,
                            const std::map<std::string, std::string>& first_checksums,
                            const Config& second,
                            const std::map<std::string, std::string>& second_checksums) {
  for (const Difference& d : differences(first, second))
    if (begins_with(d.key, {"scene.", "data.source", "data.size"}))
      return fmt::format("{} is {} and {}", d.key, d.first, d.second);
  return first_checksums == second_checksums ? "" : "the checksums of the data differ";
}

bool makes_variants(const std::string& key) {
  return !begins_with(key, {"name", "variant", "seed", "data.path", "log.", "record."});
}

std::vector<std::string> differing_keys(std::span<const Config* const> configs,
                                        std::span<const std::string> ignored) {
  std::map<std::string, std::set<std::string>> values;  // of those that read the key
  for (const Config* config : configs) {
    const std::set<std::string> unread = unread_settings(*config);
    for (const auto& [key, value] : values_of(*config))
      if (!unread.contains(key)) values[key].insert(value);
  }
  std::vector<std::string> keys;
  for (const std::string& key : setting_keys())
    if (values[key].size() > 1 && makes_variants(key) &&
        std::ranges::find(ignored, key) == ignored.end())
      keys.push_back(key);
  return keys;
}

std::vector<std::string> variant_labels(std::span<const Config* const> configs,
                                        std::span<const std::string> ignored) {
  Labels labels;
  for (const Config* config : configs) labels.push_back(config->name);
  if (count_distinct(labels) == labels.size()) return labels;
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = configs[i]->variant;
  for (const std::string& key : differing_keys(configs, ignored)) {
    Labels longer = labels;
    for (std::size_t i = 0; i < labels.size(); ++i)
      longer[i] += (labels[i].empty() ? "" : ", ") + spoken(key, value_of(*configs[i], key));
    if (count_distinct(longer) > count_distinct(labels)) labels = std::move(longer);
  }
  return labels;
}

}  // namespace saccade
