#include "experiments/runs/folder_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/input_file.h"
#include "base/read_text.h"
#include "base/stop.h"
#include "base/system_reason.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// How often to recreate folders that vanish while they are being made. Each time another process
// has released its lock; only a path where nothing can be made, such as in /proc, needs this many
// tries.
constexpr int kMostTries = 10'000;

// Returns the topmost missing folder, or an empty path if all exist.
fs::path first_missing(const fs::path& folder) {
  fs::path missing;
  std::error_code error;
  for (fs::path above = folder; !above.empty() && !fs::exists(above, error);
       above = above.parent_path())
    missing = above;
  return missing;
}

// Makes the missing folders. They can vanish meanwhile, because a process that releases a lock
// removes the folders it made. `made` becomes the topmost folder that was ever missing.
void make_folders(const fs::path& folder, fs::path& made) {
  std::error_code error;
  for (int i = 0; i < kMostTries; ++i) {
    const fs::path missing = first_missing(folder);
    if (made.empty() || (!missing.empty() && missing.native().size() < made.native().size()))
      made = missing;
    fs::create_directories(folder, error);
    // EEXIST: it existed at first but was gone when checked.
    const bool vanished = error.value() == ENOENT || error.value() == EEXIST;
    if (!vanished) break;
  }
  if (error) throw_refused(folder.string() + ": the folder cannot be made", error.value());
}

// Errors of flock() on a file system without locks, such as NFS without its daemon or Lustre
// without `-o flock`.
constexpr std::array kNoLocks = {ENOLCK, ENOSYS, EOPNOTSUPP};

[[noreturn]] void cannot_be_locked(const fs::path& path, int error) {
  const std::string what = path.string() + ": cannot be locked";
  if (std::ranges::find(kNoLocks, error) == kNoLocks.end()) throw_refused(what, error);
  throw InputError(
      fmt::format("{}: {}; this file system has no locks, without which two trainings could write "
                  "into one folder: choose a folder elsewhere by --out",
                  what, system_reason(error)));
}

enum class Try { taken, held, again };

// `flags` are those of flock(). Only find_holder takes a shared lock, for a moment.
Try try_lock(const Descriptor& file, const fs::path& path, int flags) {
  const int number = file.number();
  while (flock(number, flags) != 0) {
    if (errno == EINTR) continue;
    if (errno == ESTALE) return Try::again;  // removed on another host
    if (errno != EWOULDBLOCK) cannot_be_locked(path, errno);
    if (flock(number, LOCK_SH | LOCK_NB) != 0) return Try::held;
    flock(number, LOCK_UN);
    return Try::again;
  }
  return file.is_at(path) ? Try::taken : Try::again;  // the previous holder may have removed it
}

// Returns the locked file; not open if it is held. Makes missing folders.
Descriptor take(const fs::path& path, int flags, fs::path& made) {
  for (int tries = 0;;) {
    make_folders(path.parent_path(), made);
    std::error_code none;
    const bool is_new = !fs::exists(path, none);
    Descriptor file(path, O_RDWR | O_CREAT);
    // The previous holder removed the folder.
    if (!file.is_open() && errno == ENOENT && ++tries < kMostTries) continue;
    if (!file.is_open() && errno == ENXIO) not_a_regular_file(path);  // a socket
    if (!file.is_open()) throw_refused(path.string() + ": cannot be written");
    // The holder is read from this file, and a pipe would never end.
    if (!is_regular(file.number())) not_a_regular_file(path);
    Try tried;
    try {
      tried = try_lock(file, path, flags);
    } catch (...) {
      if (is_new) std::remove(path.c_str());
      throw;
    }
    if (tried == Try::taken) return file;
    if (tried == Try::held) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Removes the folders from `folder` up to `made` while they are empty.
void remove_made(fs::path folder, const fs::path& made) {
  std::error_code ignored;
  for (; !made.empty(); folder = folder.parent_path()) {
    const bool left = fs::exists(folder, ignored) &&
                      (!fs::is_empty(folder, ignored) || !fs::remove(folder, ignored));
    if (left || folder == made) break;
  }
}

std::string user_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> names{};
  getpwuid_r(geteuid(), &entry, names.data(), names.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(geteuid());
}

// Returns an empty holder if it cannot be read: the lock may have been released meanwhile.
Holder read_holder(const fs::path& path) {
  constexpr std::uintmax_t kMostBytes = 4 << 20;  // upper bound for the length of a command
  Holder holder;
  try {
    std::istringstream lines(read_text(path, kMostBytes));
    std::getline(lines, holder.process);
    std::getline(lines, holder.since);
    std::getline(lines, holder.command);
  } catch (const std::runtime_error&) {
    return {};
  }
  return holder;
}

// If the file system rejects this, the next file that is written reports it, too.
void write_holder(const Descriptor& file, const Holder& holder) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n", holder.process, holder.since, holder.command);
  if (ftruncate(file.number(), 0) == 0) static_cast<void>(file.write_all(text));
}

}  // namespace

std::string word_on_job() {
  const char* job = std::getenv("SLURM_ARRAY_JOB_ID");
  return job == nullptr ? "" : fmt::format(", in Slurm job {}", job);
}

Holder this_process(const std::string& command) {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return {fmt::format("process {} on host {}, of user {}{}", getpid(), host, user_name(),
                      word_on_job()),
          fmt::format("{:%Y-%m-%d %H:%M:%S}", local), command};
}

std::string to_text(const Holder& holder) {
  if (holder.process.empty()) return "another process";
  return fmt::format("{}, since {}", holder.process, holder.since);
}

HeldError::HeldError(const fs::path& folder, Holder by)
    : InputError(fmt::format("{}: is being trained by {}; wait for it, stop it, or choose another "
                             "folder by --out",
                             folder.string(), to_text(by))),
      holder(std::move(by)) {}

RunLock::RunLock(const fs::path& folder, const std::string& command) : folder_(folder) {
  const fs::path path = folder / kLockFile;
  try {
    file_ = take(path, LOCK_EX | LOCK_NB, made_);
  } catch (...) {
    remove_made(folder_, made_);
    throw;
  }
  if (!file_.is_open()) throw HeldError(folder, read_holder(path));
  write_holder(file_, this_process(command));
}

RunLock::~RunLock() {
  const bool own = is_own();
  std::error_code ignored;
  // Before the lock is released, so that no other holder's file is removed.
  if (own) fs::remove(folder_ / kLockFile, ignored);
  file_.close_it();
  if (own) remove_made(folder_, made_);
}

bool RunLock::is_own() const { return file_.is_at(folder_ / kLockFile); }

void RunLock::require_own() const {
  if (!is_own())
    throw std::runtime_error(
        fmt::format("{}: was removed or replaced while this run was being trained in it (its lock "
                    "is another one or gone); nothing more is written there",
                    folder_.string()));
}

std::optional<Holder> find_holder(const fs::path& folder) {
  const fs::path path = folder / kLockFile;
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open()) return std::nullopt;
  const bool held = is_regular(file.number()) && flock(file.number(), LOCK_SH | LOCK_NB) != 0 &&
                    errno == EWOULDBLOCK;
  if (!held) return std::nullopt;
  return read_holder(path);
}

StudyLock::StudyLock(const fs::path& folder, const OnWait& on_wait) : path_(folder / ".lock") {
  constexpr std::chrono::milliseconds kBetweenTries{50};
  fs::path made;
  for (bool waits = false;; waits = true) {
    file_ = take(path_, LOCK_EX | LOCK_NB, made);
    if (file_.is_open()) break;
    if (!waits && on_wait) on_wait(read_holder(path_));
    stop_if_asked();
    std::this_thread::sleep_for(kBetweenTries);
  }
  write_holder(file_, this_process(""));
}

StudyLock::~StudyLock() {
  std::error_code ignored;
  if (file_.is_at(path_)) fs::remove(path_, ignored);
}

}  // namespace saccade
