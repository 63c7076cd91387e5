#include "experiments/download/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "base/input_file.h"
#include "base/name_table.h"
#include "base/output.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: cannot be unpacked: {}", path.string(), why));
}

void write_entry(archive* reader, const fs::path& path, const fs::path& target) {
  OutputFile file(target, /*force=*/true);
  errno = 0;
  std::ofstream out(file.path(), std::ios::binary);
  const void* block = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  int code = ARCHIVE_OK;
  while ((code = archive_read_data_block(reader, &block, &size, &offset)) == ARCHIVE_OK) {
    out.seekp(offset);
    out.write(static_cast<const char*>(block), static_cast<std::streamsize>(size));
  }
  if (code != ARCHIVE_EOF) fail(path, archive_error_string(reader));
  out.close();
  if (!out) cannot_be_written(target);
  file.commit();
}

}  // namespace

void unpack(const fs::path& path, const std::vector<std::string>& names, const fs::path& folder) {
  constexpr std::size_t kBlock = 1U << 16;
  const InputFile file(path);
  const Reader reader(archive_read_new(), archive_read_free);
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_fd(reader.get(), file.descriptor(), kBlock) != ARCHIVE_OK)
    fail(path, archive_error_string(reader.get()));
  std::vector<std::string> missing = names;
  archive_entry* entry = nullptr;
  int code = ARCHIVE_OK;
  while ((code = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const char* full_name = archive_entry_pathname(entry);
    const std::string name = full_name == nullptr ? "" : fs::path(full_name).filename().string();
    if (archive_entry_filetype(entry) != AE_IFREG || std::erase(missing, name) == 0) continue;
    write_entry(reader.get(), path, folder / name);
  }
  if (code != ARCHIVE_EOF) fail(path, archive_error_string(reader.get()));
  if (!missing.empty()) fail(path, "it does not have " + join(missing));
}

}  // namespace saccade
