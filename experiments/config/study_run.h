#pragma once

#include <memory>
#include <span>
#include <string>

#include "experiments/config/config.h"

namespace YAML {
class Node;
}

namespace saccade {

/// A setting, its value as YAML and, for messages, where it was set.
struct Assignment {
  std::string key;
  std::string value;
  std::string place;
};

/// Whether a key belongs to a study and not to a run: `vary`, `seeds` and `tuned_by`.
bool is_study_key(const std::string& key);

/// The file of an experiment, parsed once for all its runs.
class ExperimentFile {
 public:
  /// `origin` stands for the file's name in messages. Throws InputError as read_config does.
  ExperimentFile(const std::string& text, const std::string& origin);

  /// The whole file, including the keys of studies.
  const YAML::Node& document() const { return *document_; }

  /// The configuration of one run: the file without the keys of studies, then the assignments of
  /// its variant, then overrides.
  Config run(std::span<const Assignment> assignments, std::span<const std::string> overrides) const;

 private:
  std::shared_ptr<const YAML::Node> document_;
  Config parsed_;
};

}  // namespace saccade
