#pragma once

#include <string>

#include "experiments/config/config.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// Returns whether there is nothing left to do; a finished run with fewer episodes than configured
/// is continued. Throws InputError if the folder has a finished run of another configuration.
bool is_done(const RunFolder& folder, const Config& config);

/// Returns the test table of a finished run from its summary.json: "on digit" is known only for the
/// deterministic and the random looks.
std::string table_of_finished(const RunFolder& folder, const Config& config);

/// For a finished run: rewrites config.yaml, command.txt and meta.json if they are lost, using what
/// a checkpoint records. Throws InputError if that belongs to another configuration.
void restore_lost_files(const RunFolder& folder, const Config& config, const std::string& command,
                        int ranks, int threads);

}  // namespace saccade
