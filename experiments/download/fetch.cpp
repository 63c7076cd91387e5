#include "experiments/download/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "experiments/download/checksum.h"
#include "experiments/download/unpack.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_published(const fs::path& path, const PublishedFile& file) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && size == static_cast<std::uintmax_t>(file.bytes) &&
         sha256_of(path) == file.sha256;
}

std::vector<std::string> urls_of(const PublishedFile& file, const std::string& mirror) {
  if (mirror.empty()) return file.urls;
  return {mirror + (mirror.ends_with('/') ? "" : "/") + file.name};
}

/// Returns the wanted members of an archive that are missing from a folder.
std::vector<std::string> missing_members(const PublishedFile& file, const fs::path& folder,
                                         bool all) {
  std::vector<std::string> missing = file.members;
  if (!all) std::erase_if(missing, [&](const auto& name) { return is_there(folder / name); });
  return missing;
}

/// Instructions for downloading by hand.
std::string by_hand(const std::vector<PublishedFile>& files, const fs::path& folder) {
  std::string text = fmt::format(
      "\nWithout a network here, download these elsewhere and put them into {}:", folder.string());
  bool archives = false;
  for (const PublishedFile& file : files) {
    archives = archives || !file.members.empty();
    for (const std::string& url : file.urls) text += "\n  " + url;
    text += fmt::format("\n    as {}, {} bytes, SHA-256 {}", file.name, file.bytes, file.sha256);
  }
  if (archives) text += "\nThe same command unpacks them there.";
  return text + "\n--mirror URL names another place to download from.";
}

bool fetch_file(const PublishedFile& file, const fs::path& folder, const std::string& mirror,
                bool force, DownloadProgress& progress, const std::atomic<bool>& stop) {
  const fs::path target = folder / file.name;
  const bool archive = !file.members.empty();
  const std::vector<std::string> missing = missing_members(file, folder, force);
  if (archive && missing.empty()) {
    progress.note(fmt::format("{} are there", fmt::join(file.members, ", ")));
    return true;
  }
  const bool there = is_there(target);
  const bool whole = there && is_published(target, file);
  if (there && !whole && !force)
    throw InputError(
        fmt::format("{}: is not the file that is published (SHA-256 {}) and is left as it is; "
                    "--force replaces it",
                    target.string(), file.sha256));
  if (!whole && !download({urls_of(file, mirror), target, file.bytes, file.sha256}, progress, stop))
    return false;
  if (whole) progress.note(file.name + " is there");
  if (!archive) return true;
  unpack(target, missing, folder);
  if (!there) fs::remove(target);
  progress.note(fmt::format("unpacked {}", fmt::join(missing, ", ")));
  return true;
}

}  // namespace

bool fetch(const std::vector<PublishedFile>& files, const fs::path& folder,
           const std::string& mirror, bool force, DownloadProgress& progress,
           const std::atomic<bool>& stop) {
  if (!mirror.empty()) check_url(mirror, "--mirror");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(
        fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
  try {
    return std::ranges::all_of(files, [&](const PublishedFile& file) {
      return fetch_file(file, folder, mirror, force, progress, stop);
    });
  } catch (const DownloadFailure& failure) {
    throw DownloadFailure(failure.what() + by_hand(files, folder));
  }
}

}  // namespace saccade
