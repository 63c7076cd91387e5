#pragma once

#include <atomic>
#include <filesystem>
#include <string>

namespace saccade {

/// `saccade data NAME`
struct DataOptions {
  std::string name = {};           // of published_sets()
  std::string mirror = {};         // see fetch(); empty: where the files are published
  std::filesystem::path out = {};  // a folder; empty: cache_folder()/<name>, where it is looked for
  bool force = false;              // whether files that are not as published are replaced
};

/// Downloads a digit set and shows how far it is. Returns whether it is there: false if `stop`
/// ended it. Throws as fetch() does, and InputError for an unknown name and where no folder is
/// known.
bool download_data(const DataOptions& options, const std::atomic<bool>& stop);

}  // namespace saccade
