#pragma once

#include <filesystem>

namespace saccade {

/// Writes what others need of a finished run: its configuration, command, figures and metrics, and
/// the averaged weights of its best checkpoint. It is a run folder to all that reads one. Throws
/// InputError for a run that is not finished, and where there is something at `folder` already.
void write_shared_agent(const std::filesystem::path& run_folder,
                        const std::filesystem::path& folder);

}  // namespace saccade
