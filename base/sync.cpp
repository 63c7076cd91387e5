#include "base/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system_reason.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// Errors of a folder that this user may not read, or of a file system that cannot sync folders.
constexpr std::array kCannotSync = {EACCES, EPERM, EINVAL, EROFS, EBADF, ENOSYS, EOPNOTSUPP};

// Returns 0 or the errno.
int sync_once(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = fsync(file) == 0 ? 0 : errno;
  close(file);
  return error;
}

}  // namespace

void sync_folder(const fs::path& folder) {
  const fs::path path = folder.empty() ? "." : folder;
  int error = EINTR;
  while (error == EINTR) error = sync_once(path);
  if (error != 0 && std::ranges::find(kCannotSync, error) == kCannotSync.end())
    throw_refused(path.string() + ": cannot be written", error);
}

void sync_folder_and_parents(const fs::path& folder) {
  sync_folder(folder);
  std::error_code error;
  fs::path above = fs::absolute(folder, error).lexically_normal();
  while (!error && above.has_relative_path()) {
    above = above.parent_path();
    sync_folder(above);
  }
}

}  // namespace saccade
