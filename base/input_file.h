#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <streambuf>
#include <vector>

namespace saccade {

/// A regular file that is open for reading, from its first byte on. Every file that somebody names
/// is read through one: of a pipe, a device or a socket the program would wait for bytes that never
/// come, or read for ever.
class InputFile : public std::istream {
 public:
  /// Throws InputError "<path>: not a regular file" for anything else, before a byte is read, and
  /// as throw_refused() "<path>: cannot be read: <reason>".
  explicit InputFile(const std::filesystem::path& path);
  /// The same; null if nothing is there.
  static std::unique_ptr<InputFile> if_there(const std::filesystem::path& path);
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// In bytes, when it was opened.
  std::uint64_t size() const { return size_; }
  /// The open file, for libraries that read by one. It stays this object's.
  int descriptor() const { return buffer_.file; }

 private:
  // Bytes of an open file. A failed read throws, whereby the stream becomes bad().
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

/// Throws what InputFile throws of anything but a regular file.
[[noreturn]] void not_a_regular_file(const std::filesystem::path& path);
/// Whether an open file is a regular one.
bool is_regular(int file);

}  // namespace saccade
