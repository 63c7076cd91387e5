#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// Why two agents do not see the same scenes, naming the key and both values; empty if they do.
/// Compares scene.*, data.source, data.size and the checksums of the data files.
std::string task_difference(const Config& first,
                            const std::map<std::string, std::string>& first_checksums,
                            const Config& second,
                            const std::map<std::string, std::string>& second_checksums);

/// Whether configurations that differ in this key are different variants. False for keys that name
/// a run or a place (`name`, `variant`, `seed`, `data.path`, `log.*`, `record.*`).
bool makes_variants(const std::string& key);

/// The keys that make variants and whose values differ among the configurations that read them, in
/// the order of the documentation, without `ignored` ones.
std::vector<std::string> differing_keys(std::span<const Config* const> configs,
                                        std::span<const std::string> ignored = {});

/// Short names that tell configurations apart: the names of their experiments if these differ, else
/// the names of the variants and as few settings as needed, without `ignored` ones. Equal
/// configurations have equal names.
std::vector<std::string> variant_labels(std::span<const Config* const> configs,
                                        std::span<const std::string> ignored = {});

}  // namespace saccade
