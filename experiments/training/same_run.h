#pragma once

#include <map>
#include <string>

#include "base/ranks.h"
#include "experiments/config/config.h"

namespace saccade {

/// Throws InputError on all ranks, naming the first rank that differs from rank 0 and how: in
/// version, executable, a setting or the data. Otherwise their weights would diverge.
void require_same_run(Ranks& ranks, const Config& config,
                      const std::map<std::string, std::string>& data_checksums);

}  // namespace saccade
