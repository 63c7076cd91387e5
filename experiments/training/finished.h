#pragma once

#include <string>

#include "experiments/config/config.h"
#include "experiments/runs/run_folder.h"

namespace saccade {

/// Whether there is nothing left to do: a finished run of fewer episodes goes on. Throws InputError
/// where the folder has a finished run of another configuration.
bool is_done(const RunFolder& folder, const Config& config);

/// The table of the test of a finished run, as its summary.json has it: "on digit" is that of the
/// deterministic and the random looks alone.
std::string table_of_finished(const RunFolder& folder, const Config& config);

/// Of a finished run: writes config.yaml, command.txt and meta.json again where they are lost, by
/// what a checkpoint says of it. Throws InputError where that is of another configuration.
void restore_lost_files(const RunFolder& folder, const Config& config, const std::string& command,
                        int ranks, int threads);

}  // namespace saccade
