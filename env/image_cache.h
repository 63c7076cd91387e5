#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "env/digits.h"

namespace saccade {

/// A file that keeps the images of a folder as they were decoded, so that a later start need not
/// decode them again. `key` says in full what they were made of; with another one they are not
/// taken.
class ImageCache {
 public:
  /// Of the images of `source` in the folder `cache`, which need not be there; empty: no cache.
  /// `source` is the folder and all that decoding depends on; each has a file of its own.
  ImageCache(const std::filesystem::path& cache, const std::string& source, std::string key);

  /// Images and labels as they were kept, if they were, whole and under this key. Class names are
  /// left empty. A file that is damaged or cannot be read is none.
  std::optional<RawDigits> read() const;
  /// Keeps them in place of what was kept before, whole or not at all. Where nothing can be written
  /// nothing happens: the images can be decoded again.
  void write(const RawDigits& digits) const;

  /// Empty where there is no cache.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::string key_;
};

}  // namespace saccade
