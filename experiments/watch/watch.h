#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace saccade {

struct WatchRequest {
  std::vector<std::filesystem::path> folders;  // of runs or of studies, at least one
  int port = 0;                                // 0: a free one
};

/// Serves a page about the runs below the folders, for this user alone, until all of the folders
/// are gone. It reads the files for every request and writes nothing. Calls `on_ready` with the
/// page's address. Throws InputError for a folder without runs and for a port that cannot be
/// listened on, and Stopped (base/stop.h).
void watch(const WatchRequest& request,
           const std::function<void(const std::string& url)>& on_ready);

}  // namespace saccade
