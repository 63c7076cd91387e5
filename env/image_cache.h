#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "env/digits.h"

namespace saccade {

/// A file that caches the decoded images of a folder, to speed up later starts. `key` describes
/// everything the images depend on; a file with another key is ignored.
class ImageCache {
 public:
  /// Caches the images of `source` in the folder `cache`, which need not exist; empty: no cache.
  /// `source` names the folder and all decoding settings; each source has its own file.
  ImageCache(const std::filesystem::path& cache, const std::string& source, std::string key);

  /// Returns the cached images and labels if the file is intact and has this key. Class names are
  /// left empty. A damaged or unreadable file counts as missing.
  std::optional<RawDatasets> read() const;
  /// Replaces the cached images atomically. Ignores write errors, because the images can be decoded
  /// again.
  void write(const RawDatasets& digits) const;

  /// Empty if there is no cache.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::string key_;
};

}  // namespace saccade
