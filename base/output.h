#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace saccade {

/// A new name beside `target` for what is written there until it is whole: "film.part.0f93ab21.mp4"
/// of "film.mp4". Nobody can foresee it.
class NameBeside {
 public:
  explicit NameBeside(const std::filesystem::path& target);
  ~NameBeside();
  NameBeside(const NameBeside&) = delete;
  NameBeside& operator=(const NameBeside&) = delete;

  const std::filesystem::path& path() const { return path_; }
  static bool is_one(const std::string& name);
  /// Whether this process has one of that name now.
  static bool is_live(const std::string& name);

 private:
  std::filesystem::path path_;
};

/// A file that is written beside its place and moved there when it is whole, so that whatever
/// happens the place holds what it held before or the whole new file. Several that are written at
/// once for one place do not disturb each other: the last one stays. It is a new file under a name
/// that nobody can foresee, so that no link leads elsewhere, and locked while it is written.
class OutputFile {
 public:
  /// Throws InputError if there is something at `target` already (unless `force`; a folder is never
  /// replaced), with what can be done about it, and as cannot_be_written().
  OutputFile(std::filesystem::path target, bool force,
             const std::string& advice = "--force writes over it, --out names another file");
  /// What was not committed is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Where to write: the same folder and suffix under another name. An empty file is there.
  const std::filesystem::path& path() const { return beside_->path(); }
  /// Moves the file to its place, once the disk has it whole, and has its name written there, too.
  /// Throws std::runtime_error naming it and the reason, and leaves what is there.
  void commit();

 private:
  std::filesystem::path target_;
  std::optional<NameBeside> beside_;  // until it is moved
  Descriptor file_;                   // of that name
};

/// A folder that is filled beside its place and moved there when it is whole.
class OutputFolder {
 public:
  /// Makes the folders above `place`. Throws as cannot_be_written().
  explicit OutputFolder(const std::filesystem::path& place);
  /// What was not committed is removed.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return beside_.path(); }
  /// Moves the folder to its place. Throws as throw_refused() where there is a folder with files.
  void commit() const;

 private:
  std::filesystem::path place_;
  NameBeside beside_;
  Descriptor folder_;  // of that name
};

/// Removes what writers who were ended by force have left in a folder under such names. What is
/// still written is known by its lock and, in this process, by its name: a library that puts
/// another file in its place loses the lock.
void remove_left_overs(const std::filesystem::path& folder);

/// A file that grows.
class AppendedFile {
 public:
  AppendedFile() = default;
  /// Opens it, after what is there or, with `anew`, from its beginning; makes it where it is not
  /// there. Throws as cannot_be_written().
  explicit AppendedFile(std::filesystem::path path, bool anew = false);

  /// Hands the bytes to the system, or throws as cannot_be_written().
  void append(std::string_view bytes);
  /// Has the system write them to the disk, or throws as cannot_be_written().
  void sync() const;

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

/// Throws InputError for a symbolic link, which is not followed; else as throw_refused(), naming
/// the file, the system's reason for what was asked of it last.
[[noreturn]] void cannot_be_written(const std::filesystem::path& path);
/// Why the file takes no more or cannot be read back, for those who are not told: asks the system
/// by lengthening it.
std::string write_fault(const std::filesystem::path& path);

/// Has the system write the file to the disk, or throws as cannot_be_written().
void sync_file(const std::filesystem::path& path);

/// Writes a whole file, over what is there, or throws as cannot_be_written().
void write_text(const std::filesystem::path& path, std::string_view text);
/// The same for a file that others may be reading: it is as it was or whole, whatever happens.
void replace_text(const std::filesystem::path& path, std::string_view text);

}  // namespace saccade
