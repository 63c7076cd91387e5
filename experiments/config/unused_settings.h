#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// The settings that have no effect, whether they were given or not.
std::set<std::string> unread_settings(const Config& config);

/// Those of them that were given and are not at their defaults, in the order of the documentation.
std::vector<UnusedSetting> unused_settings(const Config& config);

/// Of the runs of a study: what was left out of all of them.
std::vector<UnusedSetting> unused_in_all(std::span<const Config* const> configs);

/// A line each, for people; of many the first few. Settings of the file that have no effect with
/// the overrides share a line.
std::vector<std::string> to_lines(const std::vector<UnusedSetting>& unused);

}  // namespace saccade
