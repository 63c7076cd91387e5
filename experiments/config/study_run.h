#pragma once

#include <span>
#include <string>

#include "experiments/config/config.h"

namespace saccade {

/// A setting, its value as YAML, and where that was said, for messages.
struct Assignment {
  std::string key;
  std::string value;
  std::string place;
};

/// One run of a study: the text of its file, where the keys `vary` and `seeds` are passed over,
/// then what makes this run, then overrides.
Config parse_study_run(const std::string& text, const std::string& origin,
                       std::span<const Assignment> assignments,
                       std::span<const std::string> overrides);

}  // namespace saccade
