#pragma once

#include <atomic>
#include <filesystem>
#include <string>

namespace saccade {

/// `saccade data NAME`
struct DataOptions {
  std::string name = {};           // one of published_sets()
  std::string mirror = {};         // see fetch(); empty: where the files are published
  std::filesystem::path out = {};  // a folder; empty: cache_folder()/<name>, where data is looked
                                   // for
  bool force = false;              // whether to replace files that differ from the published ones
};

/// Downloads a dataset and shows progress. Returns whether it is complete: false if `stop` ended
/// it. Throws as fetch() does, and InputError for an unknown name and if no folder is known.
bool download_data(const DataOptions& options, const std::atomic<bool>& stop);

}  // namespace saccade
