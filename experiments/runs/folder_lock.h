#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"

namespace saccade {

/// Who trains in a run folder. Empty where it has not said so yet.
struct Holder {
  std::string process;  // "process 123 on host h, of user u"
  std::string since;    // local time there, "2026-11-23 02:40:11"
  std::string command;  // as typed
};

/// What a Holder says of the array job of Slurm that this process is of: ", in Slurm job 123", or
/// nothing.
std::string word_on_job();
/// This process, at this moment.
Holder this_process(const std::string& command);
/// "process 123 on host h, of user u, since 2026-11-23 02:40:11"
std::string to_text(const Holder& holder);

/// A run folder is being trained in by somebody else.
struct HeldError : InputError {
  HeldError(const std::filesystem::path& folder, Holder by);
  Holder holder;
};

/// The file of a run folder's lock: who holds it, as text. It is no result of the run.
inline const char* const kLockFile = "lock";

/// The right to train in a run folder, of one training at a time: an exclusive flock on its file
/// `lock`, which ends with the process, whatever ends that. Linux turns it into a byte-range lock
/// on NFS, so that it holds among hosts, too, where the server has locks.
class RunLock {
 public:
  /// Makes the folder where there is none. Throws HeldError where it is held, by another process or
  /// this one, and InputError where there can be no such file or the file system has no locks.
  RunLock(const std::filesystem::path& folder, const std::string& command);
  /// Leaves neither the file behind nor folders that it made and nobody has put anything in, and
  /// leaves alone what is not its own any more.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Whether the folder and its lock are still those that this one holds. They are not when
  /// somebody has removed, renamed or replaced them.
  bool is_own() const;
  /// Throws std::runtime_error where they are not. To be asked before anything is written there by
  /// its path.
  void require_own() const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path made_;  // the uppermost folder that was not there
  Descriptor file_;
};

/// Who trains in a run folder now, without being in anybody's way; nothing where nobody does.
std::optional<Holder> find_holder(const std::filesystem::path& folder);

/// The right to write what belongs to a study as a whole, for a short time: an exclusive flock on
/// its file `.lock`, waited for.
class StudyLock {
 public:
  /// Makes the folder where there is none. Throws InputError where there can be no such file.
  explicit StudyLock(const std::filesystem::path& folder);
  ~StudyLock();
  StudyLock(const StudyLock&) = delete;
  StudyLock& operator=(const StudyLock&) = delete;

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace saccade
