#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/config/study_run.h"

namespace saccade {

/// One run of a study.
struct StudyRun {
  std::filesystem::path folder;  // below the study's own: <variant>/seed-<n>
  Config config;
  std::filesystem::path former_folder = {};  // as before version 0.2

  /// In the folder of the study: as earlier versions called it, if it is there and this is not.
  std::filesystem::path folder_in(const std::filesystem::path& study) const;
};

/// Several runs from one file: variants, each with every seed. `vary` is a map, for every
/// combination of values,
///
///     vary:
///       attention.glimpse.kind: [hard_gaussian, soft_grid]
///       attention.glimpse.num_glimpses: [4, 8]
///     seeds: 5                                          # 1 to 5, or a list
///
/// or a list of variants, for settings that belong together:
///
///     vary:
///       - {attention.glimpse.kind: hard_gaussian, reinforce.reward: probability}
///       - {attention.glimpse.kind: soft_grid, attention.glimpse.entropy: 0.01}
///
/// where `name` names a variant: its folder and its line in tables,
///
///     vary:
///       - {name: few, attention.glimpse.num_glimpses: 4}
///       - {name: many, attention.glimpse.num_glimpses: 8}
///
/// or a list of such lists, for every combination of one variant of each:
///
///     vary:
///       - - {attention.glimpse.kind: hard_gaussian, reinforce.reward: probability}
///         - {attention.glimpse.kind: soft_grid, attention.glimpse.entropy: 0.01}
///       - [{training.learning_rate: 0.001}, {training.learning_rate: 0.002}]
///     tuned_by: training.learning_rate                  # or a list: what the rest is tuned by
///
/// An override that lists values (attention.glimpse.kind=hard_gaussian,soft_grid) varies its key,
/// too, and makes a study of any file.
struct Study {
  std::string name;
  std::vector<StudyRun> runs;  // the first variant's seeds, then the next one's: the last key or
                               // list of `vary` changes fastest
  std::vector<std::string> tuned_by = {};  // keys of `vary`, for the comparison: see gather()
};

std::vector<const Config*> configs_of(const Study& study);

/// The study in a file, or nothing where it says none of these keys. Overrides hold for every run;
/// `vary={...}`, `seeds=...` and `tuned_by=...` replace what the file says of them. Throws
/// InputError as read_config does, and for an empty list, a key in two lists of `vary`, a key that
/// is varied and overridden, one that is tuned by and not varied, or variants that are the same.
std::optional<Study> read_study(const std::filesystem::path& path,
                                const std::vector<std::string>& overrides);

/// The same from the text of a file; `origin` stands for the file's name in messages. `assignments`
/// hold over the text and under all else.
std::optional<Study> parse_study(const std::string& text, const std::string& origin,
                                 const std::vector<Assignment>& assignments,
                                 const std::vector<std::string>& overrides);

}  // namespace saccade
