#pragma once

#include <filesystem>

namespace saccade {

/// Has the system write the names in a folder to the disk: a file that was made or renamed there
/// keeps its name through a power failure. Does nothing where this user may not read the folder or
/// its file system cannot. Throws as throw_refused(), naming the folder.
void sync_folder(const std::filesystem::path& folder);

/// The same of a folder that may just have been made and of all above it, by which it is found.
void sync_folder_and_parents(const std::filesystem::path& folder);

}  // namespace saccade
