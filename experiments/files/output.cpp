#include "experiments/files/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "nn/error.h"

namespace saccade {

namespace fs = std::filesystem;

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
  beside_.replace_filename(target_.stem().string() + ".part" + target_.extension().string());
  if (!std::ofstream(beside_, std::ios::binary))
    fail("cannot be written: " + std::generic_category().message(errno));
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!beside_.empty()) fs::remove(beside_, ignored);
}

void OutputFile::commit() {
  fs::rename(beside_, target_);
  beside_.clear();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path.string()));
}

void replace_text(const fs::path& path, const std::string& text) {
  OutputFile file(path, /*force=*/true);
  write_text(file.path(), text);
  file.commit();
}

}  // namespace saccade
