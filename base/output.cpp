#include "base/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/sync.h"
#include "base/system_reason.h"

namespace saccade {

namespace fs = std::filesystem;

namespace {

// A temporary name is the target's stem, this mark, random hexadecimal digits, and its suffix.
constexpr std::string_view kMark = ".saccade.part.";
constexpr std::size_t kDigits = 8;

// Temporary names that this process is using.
struct LiveNames {
  std::mutex mutex;
  std::set<std::string> all;

  static LiveNames& live() {
    static LiveNames names;
    return names;
  }
};

// Removes the temporary files of dead writers whose names are chosen.
template <class IsChosen>
void remove_abandoned(const fs::path& folder, const IsChosen& is_chosen) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename();
    if (!is_chosen(name) || NameBeside::is_live(name)) continue;
    const Descriptor file(path, O_RDONLY);
    if (file.is_open() && file.lock()) fs::remove_all(path, error);
  }
}

// Of writers of one target only: its folder may be the user's.
void remove_abandoned_of(const fs::path& target) {
  remove_abandoned(target.parent_path(),
                   [&](const std::string& name) { return NameBeside::is_one_of(target, name); });
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
  // A link that leads nowhere is there, too.
  if (fs::exists(fs::symlink_status(target_, error)) && !force) fail("exists already; " + advice);
  remove_abandoned_of(target_);
  do {
    beside_.emplace(target_);
    errno = 0;
    file_ = Descriptor(path(), O_RDWR | O_CREAT | O_EXCL);
    if (!file_.is_open() && errno != EEXIST) cannot_be_written(target_);
    // Another process may have removed it as a leftover before it was locked, or be about to.
  } while (!file_.is_open() || (file_.lock() ? !file_.is_at(path()) : errno == EWOULDBLOCK));
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (beside_) fs::remove(path(), ignored);
}

void OutputFile::commit() {
  errno = 0;
  const Descriptor written(path(), O_RDONLY);
  if (!written.is_open() || !written.sync() || std::rename(path().c_str(), target_.c_str()) != 0)
    cannot_be_written(target_);
  beside_.reset();
  sync_folder(target_.parent_path());
}

OutputFolder::OutputFolder(const fs::path& place)
    : place_(place.has_filename() ? place : place.parent_path()), beside_(place_) {
  const fs::path above = path().has_parent_path() ? path().parent_path() : ".";
  std::error_code error;
  fs::create_directories(above, error);
  remove_abandoned_of(place_);
  errno = error.value();
  if (error || mkdir(path().c_str(), 0777) != 0) cannot_be_written(place_);
  folder_ = Descriptor(path(), O_RDONLY | O_DIRECTORY);
  folder_.lock();
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  fs::remove_all(path(), ignored);
}

void OutputFolder::commit() const {
  std::error_code error;
  fs::rename(path(), place_, error);
  if (error) throw_refused(place_.string() + ": cannot be made", error.value());
}

NameBeside::NameBeside(const fs::path& target) : path_(target) {
  std::random_device random;
  path_.replace_filename(fmt::format("{}{}{:08x}{}", target.stem().string(), kMark, random(),
                                     target.extension().string()));
  LiveNames& live = LiveNames::live();
  const std::lock_guard guard(live.mutex);
  live.all.insert(path_.filename());
}

NameBeside::~NameBeside() {
  LiveNames& live = LiveNames::live();
  const std::lock_guard guard(live.mutex);
  live.all.erase(path_.filename());
}

bool NameBeside::is_one(const std::string& name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == name.npos) return false;
  const std::size_t digits = mark + kMark.size(), end = digits + kDigits;
  return name.size() >= end && (name.size() == end || name.rfind('.') == end) &&
         name.find_first_not_of("0123456789abcdef", digits) >= end;
}

bool NameBeside::is_one_of(const fs::path& target, const std::string& name) {
  const std::string before = target.stem().string() + std::string(kMark);
  return is_one(name) && name.starts_with(before) &&
         name.substr(before.size() + kDigits) == target.extension().string();
}

bool NameBeside::is_live(const std::string& name) {
  LiveNames& live = LiveNames::live();
  const std::lock_guard guard(live.mutex);
  return live.all.contains(name);
}

void remove_left_overs(const fs::path& folder) { remove_abandoned(folder, NameBeside::is_one); }

AppendedFile::AppendedFile(fs::path path, bool anew) : path_(std::move(path)) {
  errno = 0;
  file_ = Descriptor(path_, O_WRONLY | O_APPEND | O_CREAT | (anew ? O_TRUNC : 0));
  if (!file_.is_open()) cannot_be_written(path_);
}

void AppendedFile::append(std::string_view bytes) {
  errno = 0;
  if (!file_.write_all(bytes)) cannot_be_written(path_);
}

void AppendedFile::sync() const {
  errno = 0;
  if (!file_.sync()) cannot_be_written(path_);
}

void cannot_be_written(const fs::path& path) {
  if (errno == ELOOP)
    throw InputError(path.string() + ": is a symbolic link, which is not followed");
  throw_refused(path.string() + ": cannot be written");
}

std::string write_fault(const fs::path& path) {
  constexpr std::array<char, 1 << 16> kBlock{};
  errno = 0;
  Descriptor file(path, O_RDWR | O_APPEND);
  if (!file.is_open() || !file.write_all({kBlock.data(), kBlock.size()}) || !file.sync() ||
      !file.can_be_read() || !file.close_it())
    return system_reason();
  return "the system gave no reason";
}

void sync_file(const fs::path& path) {
  errno = 0;
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open() || !file.sync()) cannot_be_written(path);
}

void write_text(const fs::path& path, std::string_view text) {
  AppendedFile(path, /*anew=*/true).append(text);
}

void replace_text(const fs::path& path, std::string_view text) {
  OutputFile file(path, /*force=*/true);
  write_text(file.path(), text);
  file.commit();
}

}  // namespace saccade
