#pragma once

#include <filesystem>

namespace saccade {

/// Throws InputError naming a symbolic link in the folder of a run, before anything of it is
/// published: the link may point to a private file. A path that is no folder has no links.
void require_no_links(const std::filesystem::path& run_folder);

/// Writes what others need of a finished run: its configuration, command, results and metrics, and
/// the averaged weights of its best checkpoint; `half` in half precision, whose figures may differ
/// in the last digit. The result can be read like any run folder. Throws InputError if the run is
/// not finished or has a symbolic link, or if `folder` exists already.
void write_shared_agent(const std::filesystem::path& run_folder,
                        const std::filesystem::path& folder, bool half = false);

}  // namespace saccade
