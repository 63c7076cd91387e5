#pragma once

#include <filesystem>
#include <string>

#include "env/digits.h"

namespace saccade {

/// Caches the decoded images of a folder, to speed up later starts: <name>-train.idx and
/// <name>-test.idx, and <name>.txt with a key, which describes everything that the images depend
/// on, and their checksums.
class ImageCache {
 public:
  /// Caches the images of `source` in the folder `cache`, which need not exist; empty: no cache.
  /// `source` names the folder and all decoding settings; each source has files of its own.
  ImageCache(const std::filesystem::path& cache, const std::string& source, const std::string& key);

  /// Reads the images of both sets, without labels, and returns whether the files are intact and
  /// have this key. Damaged or unreadable files count as missing.
  bool read(Dataset& train, Dataset& test) const;
  /// Replaces the files, each atomically. Ignores write errors, because the images can be decoded
  /// again.
  void write(const Dataset& train, const Dataset& test) const;

 private:
  std::filesystem::path file(const char* suffix) const { return name_ + suffix; }

  std::string name_;  // empty if there is no cache
  std::string key_;
};

}  // namespace saccade
