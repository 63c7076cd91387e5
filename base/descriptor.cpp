#include "base/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace saccade {

Descriptor::Descriptor(const std::filesystem::path& path, int flags)
    : number_(open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666)) {}

Descriptor::~Descriptor() {
  if (is_open()) close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

bool Descriptor::is_at(const std::filesystem::path& path) const {
  struct stat open {
  }, there{};
  return fstat(number_, &open) == 0 && lstat(path.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

bool Descriptor::lock() const { return flock(number_, LOCK_EX | LOCK_NB) == 0; }

bool Descriptor::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = write(number_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool Descriptor::sync() const { return fsync(number_) == 0; }

bool Descriptor::can_be_read() const {
  std::array<char, 1 << 16> block;
  ssize_t bytes = lseek(number_, 0, SEEK_SET);
  while (bytes >= 0 && (bytes = read(number_, block.data(), block.size())) > 0) continue;
  return bytes == 0;
}

bool Descriptor::close_it() { return close(std::exchange(number_, -1)) == 0; }

}  // namespace saccade
