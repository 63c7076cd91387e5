#pragma once

#include <filesystem>

namespace saccade {

/// Writes what others need of a finished run: its configuration, command, results and metrics, and
/// the averaged weights of its best checkpoint; `half` in half precision, whose figures may differ
/// in the last digit. The result can be read like any run folder. Throws InputError if the run is
/// not finished, or if `folder` exists already.
void write_shared_agent(const std::filesystem::path& run_folder,
                        const std::filesystem::path& folder, bool half = false);

}  // namespace saccade
