#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/config/study_run.h"

namespace saccade {

/// One run of a study.
struct StudyRun {
  std::filesystem::path folder;  // below the study's own: <variant>/seed-<n>
  Config config;
};

/// The runs that a file defines: a single one, or variants, each with every seed. `vary` is either
/// a map, for every combination of values,
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
/// where `name` names a variant's folder and its row in tables,
///
///     vary:
///       - {name: few, attention.glimpse.num_glimpses: 4}
///       - {name: many, attention.glimpse.num_glimpses: 8}
///
/// or a list of such lists, for every combination of one variant from each:
///
///     vary:
///       - - {attention.glimpse.kind: hard_gaussian, reinforce.reward: probability}
///         - {attention.glimpse.kind: soft_grid, attention.glimpse.entropy: 0.01}
///       - [{training.learning_rate: 0.001}, {training.learning_rate: 0.002}]
///     tuned_by: training.learning_rate                  # or a list: tuned for each of the rest
///
/// An override that lists values (attention.glimpse.kind=hard_gaussian,soft_grid) also varies its
/// key, and turns any file into a study.
struct Study {
  std::string name;
  std::vector<StudyRun> runs;  // all seeds of the first variant, then of the next; the last key or
                               // list of `vary` varies fastest
  std::vector<std::string> tuned_by = {};  // keys of `vary`, for the comparison: see gather()
  bool single = false;                     // nothing varies: one run, and no folder of a study
};

std::vector<const Config*> configs_of(const Study& study);

/// Reads the runs that a file defines. Overrides apply to every run; `vary={...}`, `seeds=...` and
/// `tuned_by=...` replace those of the file. Throws InputError as read_config does, and for an
/// empty list, a key in two lists of `vary`, a key that is both varied and overridden, a `tuned_by`
/// key that is not varied, and variants that are the same.
Study read_study(const std::filesystem::path& path, const std::vector<std::string>& overrides);

/// The same from text; `origin` stands for the file name in messages. `assignments` take precedence
/// over the text; overrides take precedence over both.
Study parse_study(const std::string& text, const std::string& origin,
                  const std::vector<Assignment>& assignments,
                  const std::vector<std::string>& overrides);

}  // namespace saccade
