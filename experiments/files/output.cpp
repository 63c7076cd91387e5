#include "experiments/files/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#include "experiments/files/sync.h"
#include "nn/error.h"
#include "nn/system_reason.h"

namespace saccade {

namespace fs = std::filesystem;

namespace {

// A file that is open for writing, at its end. A symbolic link is not followed: somebody may have
// laid it where a file of this program is to be.
class Descriptor {
 public:
  explicit Descriptor(const fs::path& path, int flags = 0)
      : file_(open(path.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | flags, 0666)) {}
  ~Descriptor() {
    if (file_ >= 0) close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return file_ >= 0; }
  bool append(const char* bytes, std::size_t count) const {
    while (count > 0) {
      const ssize_t written = write(file_, bytes, count);
      if (written <= 0) return false;
      bytes += written;
      count -= static_cast<std::size_t>(written);
    }
    return true;
  }
  bool sync() const { return fsync(file_) == 0; }
  bool can_be_read() const {
    std::array<char, 1 << 16> block;
    ssize_t bytes = lseek(file_, 0, SEEK_SET);
    while (bytes >= 0 && (bytes = read(file_, block.data(), block.size())) > 0) continue;
    return bytes == 0;
  }
  bool close_it() { return close(std::exchange(file_, -1)) == 0; }

 private:
  int file_;
};

// Throws InputError for a symbolic link.
void require_no_link(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error)))
    throw InputError(path.string() + ": is a symbolic link, which is not followed");
}

bool is_synced(const fs::path& path) {
  const Descriptor file(path);
  return file.is_open() && file.sync();
}

}  // namespace

OutputFile::OutputFile(fs::path target, bool force, const std::string& advice)
    : target_(std::move(target)) {
  const auto fail = [&](const std::string& why) {
    throw InputError(fmt::format("{}: {}", target_.string(), why));
  };
  std::error_code error;
  const fs::file_status there = fs::status(target_, error);
  if (fs::is_directory(there)) fail("is a folder; a file is to be written there");
  if (fs::exists(there) && !force) fail("exists already and is left as it is; " + advice);
  beside_ = target_;
  beside_.replace_filename(target_.stem().string() + kPart + target_.extension().string());
  // Whatever has the name is left over or a stranger's: it goes, and the file is a new one.
  fs::remove(beside_, error);
  errno = 0;
  if (!Descriptor(beside_, O_CREAT | O_EXCL).is_open()) cannot_be_written(target_);
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!beside_.empty()) fs::remove(beside_, ignored);
}

void OutputFile::commit() {
  errno = 0;
  if (!is_synced(beside_)) cannot_be_written(target_);
  if (std::rename(beside_.c_str(), target_.c_str()) != 0) cannot_be_written(target_);
  beside_.clear();
  sync_folder(target_.parent_path());
}

void cannot_be_written(const fs::path& path) {
  throw_refused(path.string() + ": cannot be written");
}

std::string write_fault(const fs::path& path) {
  constexpr std::array<char, 1 << 16> kBlock{};
  errno = 0;
  Descriptor file(path);
  if (!file.is_open() || !file.append(kBlock.data(), kBlock.size()) || !file.sync() ||
      !file.can_be_read() || !file.close_it())
    return system_reason();
  return "the system gave no reason";
}

void sync_file(const fs::path& path) {
  errno = 0;
  if (!is_synced(path)) cannot_be_written(path);
}

std::ofstream open_to_append(const fs::path& path, bool anew) {
  require_no_link(path);
  errno = 0;
  std::ofstream file(path, std::ios::binary | (anew ? std::ios::trunc : std::ios::app));
  if (!file) cannot_be_written(path);
  return file;
}

void write_text(const fs::path& path, const std::string& text) {
  require_no_link(path);
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) cannot_be_written(path);
}

void replace_text(const fs::path& path, const std::string& text) {
  OutputFile file(path, /*force=*/true);
  write_text(file.path(), text);
  file.commit();
}

}  // namespace saccade
