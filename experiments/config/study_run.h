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

/// Whether a key belongs to a study and not to a run: `vary`, `seeds` and `tuned_by`.
bool is_study_key(const std::string& key);

/// One run of a study: the text of its file, where the keys of studies are passed over, then what
/// makes this run, then overrides.
Config parse_study_run(const std::string& text, const std::string& origin,
                       std::span<const Assignment> assignments,
                       std::span<const std::string> overrides);

}  // namespace saccade
