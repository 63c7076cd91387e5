#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/download/download.h"
#include "experiments/download/published.h"

namespace saccade {

/// Brings the files of a digit set into a folder, which is made: those that are there already are
/// left as they are (a file that is published by itself only if its checksum is right; those of an
/// archive, which have none, because they are there), the others are downloaded, and archives
/// unpacked and removed. An archive that lies in the folder is unpacked and stays. With `force`
/// everything that is not as published is replaced.
///
/// `mirror`: the URL of a folder where the files lie under their names, in place of where they are
/// published; "": none.
///
/// Returns whether all is there: false if `stop` ended it, which a later call goes on with. Throws
/// InputError for a URL that is none, a folder that cannot be made and, without `force`, a file of
/// the right name that is not the published one; DownloadFailure, which says what to download
/// elsewhere and where to put it; std::runtime_error as download() and unpack() do.
bool fetch(const std::vector<PublishedFile>& files, const std::filesystem::path& folder,
           const std::string& mirror, bool force, DownloadProgress& progress,
           const std::atomic<bool>& stop);

}  // namespace saccade
