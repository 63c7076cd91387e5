#pragma once

#include <filesystem>
#include <string_view>

namespace saccade {

/// Owns an open file or folder. Never follows a symbolic link, because another user may have placed
/// one where this program writes. Opening never blocks, even on a pipe without a reader.
class Descriptor {
 public:
  Descriptor() = default;
  /// `flags` are those of open(2). On failure is_open() is false and errno gives the reason.
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Whether `path` refers to this file.
  bool is_at(const std::filesystem::path& path) const;

  // These return false on failure, and errno gives the reason.

  /// Takes the lock of flock(2) until the file is closed. Fails if another process holds it.
  bool lock() const;
  bool write_all(std::string_view bytes) const;
  bool sync() const;
  bool can_be_read() const;
  bool close_it();

 private:
  int number_ = -1;
};

}  // namespace saccade
