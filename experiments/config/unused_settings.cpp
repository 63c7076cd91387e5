#include "experiments/config/unused_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/settings.h"

namespace saccade {

std::set<std::string> unread_settings(const Config& config) {
  std::set<std::string> keys;
  for (const Setting& setting : settings())
    if (unmet_need(setting, config)) keys.insert(setting.key);
  return keys;
}

std::vector<UnusedSetting> unused_settings(const Config& config) {
  std::vector<UnusedSetting> unused;
  for (const Setting& setting : settings()) {
    const auto given = config.given.find(setting.key);
    if (given == config.given.end() || has_default(setting, config)) continue;
    if (const std::optional<std::string> reason = unmet_need(setting, config))
      unused.push_back({setting.key, given->second, *reason});
  }
  return unused;
}

std::vector<UnusedSetting> unused_in_all(std::span<const Config* const> configs) {
  std::vector<UnusedSetting> unused;
  std::set<std::string> seen, read;
  for (const Config* config : configs) {
    for (const UnusedSetting& setting : config->unused)
      if (seen.insert(setting.key).second) unused.push_back(setting);
    for (const auto& [key, place] : config->given) read.insert(key);
  }
  std::erase_if(unused, [&](const UnusedSetting& setting) { return read.contains(setting.key); });
  return unused;
}

std::vector<std::string> to_lines(const std::vector<UnusedSetting>& unused) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> lines, replaced;
  for (const UnusedSetting& setting : unused) {
    if (setting.replaced)
      replaced.push_back(setting.key);
    else
      lines.push_back(
          fmt::format("{}: {} has no effect while {}", setting.place, setting.key, setting.reason));
  }
  if (lines.size() > kMost) {
    const std::size_t more = lines.size() - kMost;
    lines.resize(kMost);
    lines.push_back(fmt::format("{} more settings have no effect", more));
  }
  if (!replaced.empty())
    lines.push_back(fmt::format("settings of the file that have no effect with these overrides: {}",
                                fmt::join(replaced, ", ")));
  return lines;
}

}  // namespace saccade
