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

/// What the file of a study says but for the keys of studies. It is read once for all the runs.
class StudyFile {
 public:
  StudyFile(const std::string& text, const std::string& origin);

  /// One run: the file, then what makes this run, then overrides.
  Config run(std::span<const Assignment> assignments, std::span<const std::string> overrides) const;

 private:
  Config said_;
};

/// The same of one run alone.
Config parse_study_run(const std::string& text, const std::string& origin,
                       std::span<const Assignment> assignments,
                       std::span<const std::string> overrides);

}  // namespace saccade
