#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// The settings that the chosen kinds do not read, whether they were given or not.
std::set<std::string> unread_settings(const Config& config);

/// Those of them that were given and are not at their defaults, in the order of the documentation.
std::vector<UnusedSetting> unused_settings(const Config& config);

/// Of the runs of a study: what was left out of all of them.
std::vector<UnusedSetting> unused_in_all(std::span<const Config* const> configs);

/// A line each, for people; of many the first few. Settings of the file that do not go with the
/// overrides share a line.
std::vector<std::string> to_lines(const std::vector<UnusedSetting>& unused);

/// What has to be so for a setting to be read ("model.core: attention"); nothing of one that always
/// is.
std::vector<std::string> needs_of(const std::string& key);

}  // namespace saccade
