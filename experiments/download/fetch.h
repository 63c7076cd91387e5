#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/download/download.h"
#include "experiments/download/published.h"

namespace saccade {

/// Provides the files of a dataset in a folder, which is made if missing. Existing files are kept:
/// a file that is published on its own only if its checksum is right; a member of an archive, which
/// has no checksum, if it exists. The others are downloaded; archives are unpacked and removed,
/// except an archive that was in the folder already. `force` replaces everything that differs from
/// what is published.
///
/// `mirror`: URL of a folder that has the files under their names, used instead of the published
/// places; "": none.
///
/// Returns whether everything is there: false if `stop` ended it; a later call continues. Throws
/// InputError for an invalid URL, a folder that cannot be made and, without `force`, a file of the
/// right name but the wrong contents; DownloadFailure, which says what to download elsewhere and
/// where to put it; std::runtime_error as download() and unpack() do.
bool fetch(const std::vector<PublishedFile>& files, const std::filesystem::path& folder,
           const std::string& mirror, bool force, DownloadProgress& progress,
           const std::atomic<bool>& stop);

}  // namespace saccade
