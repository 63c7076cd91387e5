#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// A setting that was given and that nothing reads.
struct UnusedSetting {
  std::string key;
  std::string place;  // where it was given
  std::string needs;  // "model.core: attention, not lstm"

  bool operator==(const UnusedSetting&) const = default;
};

/// What was given, is not what it would be anyway, and is not read by the kinds that were chosen;
/// in the order of the documentation.
std::vector<UnusedSetting> unused_settings(const Config& config);

/// Of the runs of a study: what none of those reads that it was given to.
std::vector<UnusedSetting> unused_settings(std::span<const Config* const> configs);

/// A line each, for people; of many the first few.
std::vector<std::string> to_lines(const std::vector<UnusedSetting>& unused);

/// What has to be so for a setting to be read ("model.core: attention"); nothing of one that always
/// is.
std::vector<std::string> needs_of(const std::string& key);

}  // namespace saccade
