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

/// The keys in which configurations differ, in the order of the documentation, but for those that
/// name a run or a place (`name`, `seed`, `data.path`, `log.*`, `record.*`).
std::vector<std::string> differing_keys(std::span<const Config* const> configs);

/// Short names that tell configurations apart: those of their experiments where these do, else as
/// few settings as do. Not distinct where the configurations are not.
std::vector<std::string> variant_labels(std::span<const Config* const> configs);

}  // namespace saccade
