#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"

namespace saccade {

/// The process that trains in a run folder. Empty if it has not been recorded yet.
struct Holder {
  std::string process;  // "process 123 on host h, of user u"
  std::string since;    // local time of that host, "2026-11-23 02:40:11"
  std::string command;  // as typed
};

/// What a Holder says about the Slurm array job of this process: ", in Slurm job 123", or an empty
/// string.
std::string word_on_job();
/// This process at this moment.
Holder this_process(const std::string& command);
/// "process 123 on host h, of user u, since 2026-11-23 02:40:11"
std::string to_text(const Holder& holder);

/// Another process or thread is training in the run folder.
struct HeldError : InputError {
  HeldError(const std::filesystem::path& folder, Holder by);
  Holder holder;
};

/// The lock file of a run folder; it holds the holder as text. It is not a result of the run.
inline const char* const kLockFile = "lock";

/// Exclusive right to train in a run folder: an exclusive flock on its file `lock`, which ends with
/// the process however that ends. On NFS Linux turns it into a byte-range lock, so that it also
/// works across hosts if the server supports locks.
class RunLock {
 public:
  /// Makes the folder if it is missing. Throws HeldError if another process or this one holds it,
  /// and InputError if the file cannot be made or the file system has no locks.
  RunLock(const std::filesystem::path& folder, const std::string& command);
  /// Removes the lock file and the folders it made that are still empty. Leaves alone what it no
  /// longer owns.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Returns whether the folder and its lock are still those that this object holds. They are not
  /// if somebody has removed, renamed or replaced them.
  bool is_own() const;
  /// Throws std::runtime_error if not. Call before writing anything there by path.
  void require_own() const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path made_;  // topmost folder that was missing
  Descriptor file_;
};

/// Returns who trains in a run folder now, or nothing. Does not disturb the training.
std::optional<Holder> find_holder(const std::filesystem::path& folder);

/// Right to write the files of a study as a whole, held briefly: an exclusive flock on its file
/// `.lock`, which also holds a Holder. Waits until it is free.
class StudyLock {
 public:
  /// Receives who holds the lock, once, if there is anything to wait for.
  using OnWait = std::function<void(const Holder&)>;

  /// Makes the folder if it is missing. Throws InputError if the file cannot be made, and Stopped
  /// if asked to stop while it waits (base/stop.h).
  explicit StudyLock(const std::filesystem::path& folder, const OnWait& on_wait = nullptr);
  ~StudyLock();
  StudyLock(const StudyLock&) = delete;
  StudyLock& operator=(const StudyLock&) = delete;

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace saccade
