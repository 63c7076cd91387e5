#include "experiments/files/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "experiments/files/sync.h"
#include "nn/error.h"
#include "nn/system_reason.h"

namespace saccade {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kDigits = 8;  // hexadecimal, of a name beside

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
  remove_left_overs(target_.parent_path());
  do {
    beside_ = name_beside(target_);
    errno = 0;
    file_ = Descriptor(beside_, O_RDWR | O_CREAT | O_EXCL);
    if (!file_.is_open() && errno != EEXIST) cannot_be_written(target_);
    // Another one may have taken it for a left-over before it was locked.
  } while (!file_.is_open() || (file_.lock() && !file_.is_at(beside_)));
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!beside_.empty()) fs::remove(beside_, ignored);
}

void OutputFile::commit() {
  errno = 0;
  const Descriptor written(beside_, O_RDONLY);
  if (!written.is_open() || !written.sync() || std::rename(beside_.c_str(), target_.c_str()) != 0)
    cannot_be_written(target_);
  beside_.clear();
  sync_folder(target_.parent_path());
}

fs::path name_beside(const fs::path& target) {
  std::random_device random;
  fs::path beside = target;
  beside.replace_filename(fmt::format("{}{}.{:08x}{}", target.stem().string(), OutputFile::kPart,
                                      random(), target.extension().string()));
  return beside;
}

bool is_name_beside(const std::string& name) {
  const std::string before = std::string(OutputFile::kPart) + ".";
  const std::size_t part = name.rfind(before);
  if (part == name.npos) return false;
  const std::size_t digits = part + before.size(), end = digits + kDigits;
  return name.size() >= end && (name.size() == end || name[end] == '.') &&
         name.find_first_not_of("0123456789abcdef", digits) >= end;
}

void remove_left_overs(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    if (!is_name_beside(path.filename().string())) continue;
    const Descriptor file(path, O_RDONLY);
    if (file.is_open() && file.lock()) fs::remove_all(path, error);
  }
}

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
