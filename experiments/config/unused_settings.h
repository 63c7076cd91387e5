#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// The keys of settings that have no effect, whether they were given or not.
std::set<std::string> unread_settings(const Config& config);

/// Those that were given a value other than their default, in the order of the documentation.
std::vector<UnusedSetting> unused_settings(const Config& config);

/// The settings of a study that have no effect in any of its runs.
std::vector<UnusedSetting> unused_in_all(std::span<const Config* const> configs);

/// Describes each in a line; of many, the first few. Settings of the file that have no effect only
/// because of the overrides share a line.
std::vector<std::string> to_lines(const std::vector<UnusedSetting>& unused);

}  // namespace saccade
