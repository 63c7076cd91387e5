#pragma once

#include <filesystem>

namespace saccade {

/// Syncs a folder's entries to disk, so that a file created or renamed there keeps its name through
/// a power failure. Does nothing if this user may not read the folder or its file system cannot
/// sync folders. Throws by throw_refused() with the folder's path.
void sync_folder(const std::filesystem::path& folder);

/// The same for a folder that may have just been created, and all of its parents.
void sync_folder_and_parents(const std::filesystem::path& folder);

}  // namespace saccade
