#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ios>
#include <string>

#include "base/error.h"
#include "base/system_reason.h"

namespace saccade {
namespace {

// Returns the negative errno if the file cannot be opened. Without O_NONBLOCK, opening a pipe would
// block until someone opens the other end; regular files ignore the flag.
int open_to_read(const std::filesystem::path& path) {
  int file = -1;
  do file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  while (file < 0 && errno == EINTR);
  return file < 0 ? -errno : file;
}

[[noreturn]] void cannot_be_read(const std::filesystem::path& path, int error) {
  if (error == ENXIO) not_a_regular_file(path);  // a socket, or a missing device
  throw_refused(path.string() + ": cannot be read", error);
}

}  // namespace

void not_a_regular_file(const std::filesystem::path& path) {
  throw InputError(path.string() + ": not a regular file");
}

bool is_regular(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

InputFile::InputFile(const std::filesystem::path& path) : InputFile(path, open_to_read(path)) {}

std::unique_ptr<InputFile> InputFile::if_there(const std::filesystem::path& path) {
  const int file = open_to_read(path);
  if (file == -ENOENT) return nullptr;
  return std::unique_ptr<InputFile>(new InputFile(path, file));
}

InputFile::InputFile(const std::filesystem::path& path, int file) : std::istream(nullptr) {
  if (file < 0) cannot_be_read(path, -file);
  struct stat status {};
  const int error = fstat(file, &status) == 0 ? 0 : errno;
  if (error != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    if (error != 0) cannot_be_read(path, error);
    not_a_regular_file(path);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  buffer_.file = file;
  rdbuf(&buffer_);
}

InputFile::~InputFile() {
  if (buffer_.file >= 0) close(buffer_.file);
}

std::size_t InputFile::Buffer::read_some(char* to, std::size_t count) const {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // read() accepts up to 2^31
  for (;;) {
    const ssize_t got = ::read(file, to, std::min(count, kMostAtOnce));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw std::ios_base::failure("read");
  }
}

InputFile::Buffer::int_type InputFile::Buffer::underflow() {
  constexpr std::size_t kBlock = 1 << 16;
  block.resize(kBlock);
  setg(block.data(), block.data(), block.data());
  setg(block.data(), block.data(), block.data() + read_some(block.data(), kBlock));
  return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

// Large reads bypass the buffer.
std::streamsize InputFile::Buffer::xsgetn(char* to, std::streamsize count) {
  std::streamsize done = std::min<std::streamsize>(count, egptr() - gptr());
  std::copy_n(gptr(), done, to);
  setg(eback(), gptr() + done, egptr());
  while (done < count) {
    const std::size_t got = read_some(to + done, static_cast<std::size_t>(count - done));
    if (got == 0) break;
    done += static_cast<std::streamsize>(got);
  }
  return done;
}

InputFile::Buffer::pos_type InputFile::Buffer::seekoff(off_type offset, std::ios_base::seekdir from,
                                                       std::ios_base::openmode) {
  const off_type ahead = egptr() - gptr();  // read from the system but not yet by the caller
  if (from == std::ios_base::cur && offset == 0)
    return pos_type(off_type(lseek(file, 0, SEEK_CUR)) - ahead);
  if (from == std::ios_base::cur) offset -= ahead;
  const int whence = from == std::ios_base::beg   ? SEEK_SET
                     : from == std::ios_base::cur ? SEEK_CUR
                                                  : SEEK_END;
  const off_t place = lseek(file, offset, whence);
  setg(nullptr, nullptr, nullptr);
  return pos_type(off_type(place));
}

InputFile::Buffer::pos_type InputFile::Buffer::seekpos(pos_type place,
                                                       std::ios_base::openmode which) {
  return seekoff(off_type(place), std::ios_base::beg, which);
}

}  // namespace saccade
