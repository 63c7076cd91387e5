#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace saccade {

/// A temporary name beside `target` for an incomplete file: "film.saccade.part.0f93ab21.mp4" for
/// "film.mp4". The digits are random, so the name cannot be predicted.
class NameBeside {
 public:
  explicit NameBeside(const std::filesystem::path& target);
  ~NameBeside();
  NameBeside(const NameBeside&) = delete;
  NameBeside& operator=(const NameBeside&) = delete;

  const std::filesystem::path& path() const { return path_; }
  static bool is_one(const std::string& name);
  /// Whether the name is one for this target.
  static bool is_one_of(const std::filesystem::path& target, const std::string& name);
  /// Whether this process currently uses that name.
  static bool is_live(const std::string& name);

 private:
  std::filesystem::path path_;
};

/// A file that is written under a temporary name and renamed to its target when complete. Whatever
/// happens, the target holds either its old contents or the whole new file. Concurrent writers of
/// one target do not disturb each other: the last one wins. The temporary name is unpredictable, so
/// no planted link can redirect the write, and the file is locked while it is written.
class OutputFile {
 public:
  /// Removes what killed writers of `target` left beside it, and no other file. Throws InputError,
  /// followed by `advice`, if `target` exists already (unless `force`; a folder is never replaced),
  /// and cannot_be_written() if the file cannot be created.
  OutputFile(std::filesystem::path target, bool force,
             const std::string& advice = "--force writes over it, --out names another file");
  /// Removes the file if it was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Where to write: an existing empty file in the same folder with the same suffix.
  const std::filesystem::path& path() const { return beside_->path(); }
  /// Syncs the file, renames it to its target and syncs the folder. On failure throws
  /// std::runtime_error with the path and the reason, and leaves the target as it was.
  void commit();

 private:
  std::filesystem::path target_;
  std::optional<NameBeside> beside_;  // until commit
  Descriptor file_;                   // the temporary file
};

/// A folder that is filled under a temporary name and renamed to its place when complete.
class OutputFolder {
 public:
  /// Creates the parent folders of `place`. Throws by cannot_be_written().
  explicit OutputFolder(const std::filesystem::path& place);
  /// Removes the folder if it was not committed.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return beside_.path(); }
  /// Renames the folder to its place. Throws by throw_refused() if a folder with files is there.
  void commit() const;

 private:
  std::filesystem::path place_;
  NameBeside beside_;
  Descriptor folder_;  // the temporary folder
};

/// Removes temporary files that killed writers of any target left in `folder`, which is one that
/// only this program writes to. Files still being written are recognised by their lock and, in this
/// process, by name: a library that replaces the file drops the lock.
void remove_left_overs(const std::filesystem::path& folder);

/// A file that is appended to.
class AppendedFile {
 public:
  AppendedFile() = default;
  /// Opens or creates the file. Appends to its contents or, with `anew`, truncates it first. Throws
  /// by cannot_be_written().
  explicit AppendedFile(std::filesystem::path path, bool anew = false);

  /// Passes the bytes to the system. Throws by cannot_be_written().
  void append(std::string_view bytes);
  /// Syncs the file to disk. Throws by cannot_be_written().
  void sync() const;

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

/// Throws InputError for a symbolic link, which is never followed; otherwise throws by
/// throw_refused() with the path and errno.
[[noreturn]] void cannot_be_written(const std::filesystem::path& path);
/// Why a file cannot be written or read back, for callers whose library does not report it. Extends
/// the file to make the system report the reason.
std::string write_fault(const std::filesystem::path& path);

/// Syncs the file to disk. Throws by cannot_be_written().
void sync_file(const std::filesystem::path& path);

/// Writes a whole file and overwrites what is there. Throws by cannot_be_written().
void write_text(const std::filesystem::path& path, std::string_view text);
/// The same for a file that others may be reading: they see the old or the new contents, never a
/// part.
void replace_text(const std::filesystem::path& path, std::string_view text);

}  // namespace saccade
