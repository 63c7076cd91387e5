#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// Why two agents do not see the same scenes, naming the key and both values; empty if they do.
/// What counts is scene.*, data.source, data.size and the checksums of the data files.
std::string task_difference(const Config& first,
                            const std::map<std::string, std::string>& first_checksums,
                            const Config& second,
                            const std::map<std::string, std::string>& second_checksums);

/// Whether configurations that differ in a key are other variants: not in one that names a run or a
/// place (`name`, `variant`, `seed`, `data.path`, `log.*`, `record.*`).
bool makes_variants(const std::string& key);

/// The keys that make variants and in which those configurations differ that read them, in the
/// order of the documentation, but for `ignored` ones.
std::vector<std::string> differing_keys(std::span<const Config* const> configs,
                                        std::span<const std::string> ignored = {});

/// Short names that tell configurations apart: those of their experiments where these do, else
/// those of the variants and as few settings as do, `ignored` ones left out. Not distinct where the
/// configurations are not.
std::vector<std::string> variant_labels(std::span<const Config* const> configs,
                                        std::span<const std::string> ignored = {});

}  // namespace saccade
