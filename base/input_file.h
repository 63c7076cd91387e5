#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <streambuf>
#include <vector>

namespace saccade {

/// A regular file opened for reading. Every file that a user names is read through this class: a
/// pipe, device or socket could block the program or never end.
class InputFile : public std::istream {
 public:
  /// Throws InputError "<path>: not a regular file" for anything else before reading a byte, and
  /// throw_refused() "<path>: cannot be read: <reason>" if opening fails.
  explicit InputFile(const std::filesystem::path& path);
  /// The same, but returns null if nothing exists at `path`.
  static std::unique_ptr<InputFile> if_there(const std::filesystem::path& path);
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Size in bytes when the file was opened.
  std::uint64_t size() const { return size_; }
  /// The file descriptor, for libraries that read from one. This object keeps ownership.
  int descriptor() const { return buffer_.file; }

 private:
  // Buffers an open file. A failed read throws, which sets bad() on the stream.
  struct Buffer : std::streambuf {
    int_type underflow() override;
    std::streamsize xsgetn(char* to, std::streamsize count) override;
    pos_type seekoff(off_type offset, std::ios_base::seekdir from,
                     std::ios_base::openmode which) override;
    pos_type seekpos(pos_type place, std::ios_base::openmode which) override;
    std::size_t read_some(char* to, std::size_t count) const;

    int file = -1;
    std::vector<char> block;
  };

  InputFile(const std::filesystem::path& path, int file);

  Buffer buffer_;
  std::uint64_t size_ = 0;
};

/// Throws the InputError that InputFile throws for anything but a regular file.
[[noreturn]] void not_a_regular_file(const std::filesystem::path& path);
/// Whether an open file is a regular file.
bool is_regular(int file);

}  // namespace saccade
