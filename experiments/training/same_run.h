#pragma once

#include <map>
#include <string>

#include "base/ranks.h"
#include "experiments/config/config.h"

namespace saccade {

/// Throws InputError on all ranks, naming the first that differs from rank 0 and in what: the
/// version, the program's file, a setting, the data. Their weights would part.
void require_same_run(Ranks& ranks, const Config& config,
                      const std::map<std::string, std::string>& data_checksums);

}  // namespace saccade
