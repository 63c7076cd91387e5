#pragma once

#include <filesystem>
#include <string_view>

namespace saccade {

/// An open file or folder. A symbolic link is not followed: somebody may have laid it where a file
/// of this program is to be. Opening waits for nobody, as a pipe without a reader would have it.
class Descriptor {
 public:
  Descriptor() = default;
  /// `flags` of open(2). Where the system refuses, is_open() is false and errno says why.
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Whether the file of that path is this one.
  bool is_at(const std::filesystem::path& path) const;

  // These return false where the system refuses, and errno says why.

  /// Takes the lock of flock(2), which lasts until the file is closed, unless another has it.
  bool lock() const;
  bool write_all(std::string_view bytes) const;
  bool sync() const;
  bool can_be_read() const;
  bool close_it();

 private:
  int number_ = -1;
};

}  // namespace saccade
