#pragma once

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/setting.h"

namespace saccade {

/// Throws SettingError unless the number of a setting lies in the closed `range` that its
/// describe() names.
inline void check_range(const std::string& key, double value, const Interval& range) {
  if (!range.contains(value))
    throw SettingError({key},
                       fmt::format("{}: {}; allowed: {} to {}", key, value, range.low, range.high));
}

}  // namespace saccade
