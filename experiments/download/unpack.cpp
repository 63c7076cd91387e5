#include "experiments/download/unpack.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "base/input_file.h"
#include "base/name_table.h"
#include "base/output.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 1U << 16;
constexpr const char* kDamaged = "it is damaged, or no .zip or .tar.gz";

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: cannot be unpacked: {}", path.string(), why));
}

std::string last_part(const std::string& name) { return fs::path(name).filename().string(); }

/// Reads up to `size` bytes of a file in the archive; 0: its end. Throws for a damaged archive.
using ReadSome = std::function<std::size_t(char* to, std::size_t size)>;

void write_file(const fs::path& target, const ReadSome& read_some) {
  OutputFile file(target, /*force=*/true);
  std::ofstream out(file.path(), std::ios::binary);
  std::array<char, kBlock> block;
  while (const std::size_t size = read_some(block.data(), block.size()))
    out.write(block.data(), static_cast<std::streamsize>(size));
  out.close();
  if (!out) cannot_be_written(target);
  file.commit();
}

/// Unpacks the files whose names it erases from `missing`.
void unpack_zip(const InputFile& file, const fs::path& path, std::vector<std::string>& missing,
                const fs::path& folder) {
  int code = 0;
  const int descriptor = dup(file.descriptor());
  const std::unique_ptr<zip_t, decltype(&zip_discard)> archive(zip_fdopen(descriptor, 0, &code),
                                                               &zip_discard);
  if (!archive) {
    close(descriptor);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail(path, why);
  }
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    const char* name = zip_get_name(archive.get(), i, 0);
    if (name == nullptr || std::erase(missing, last_part(name)) == 0) continue;
    const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> entry(
        zip_fopen_index(archive.get(), i, 0), &zip_fclose);
    if (!entry) fail(path, zip_strerror(archive.get()));
    write_file(folder / last_part(name), [&](char* to, std::size_t size) {
      const zip_int64_t read = zip_fread(entry.get(), to, size);
      if (read < 0) fail(path, zip_file_strerror(entry.get()));
      return static_cast<std::size_t>(read);
    });
  }
}

/// The header of a file in a tar archive (POSIX.1-1988 "ustar", which pax and GNU tar extend).
struct TarHeader {
  std::array<char, 100> name;
  std::array<char, 24> mode_and_owner;
  std::array<char, 12> size;  // octal
  std::array<char, 12> time;
  std::array<char, 8> checksum;  // octal: the sum of all bytes, with blanks in its place
  char type;                     // '0' or 0: a file
  std::array<char, 355> rest;

  bool is_end() const { return name[0] == '\0'; }
  bool is_file() const { return type == '0' || type == '\0'; }
  bool is_intact() const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(this);
    std::uint64_t sum = std::accumulate(bytes, bytes + sizeof(TarHeader), std::uint64_t{0});
    for (const char digit : checksum) sum += ' ' - static_cast<unsigned char>(digit);
    return sum == number(checksum);
  }

  /// 0 for what is no number.
  template <std::size_t count>
  static std::uint64_t number(const std::array<char, count>& octal) {
    const std::string text(octal.data(), count);
    return std::strtoull(text.c_str(), nullptr, 8);
  }
};
static_assert(sizeof(TarHeader) == 512);

void unpack_tar(const InputFile& file, const fs::path& path, std::vector<std::string>& missing,
                const fs::path& folder) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> stream(gzdopen(dup(file.descriptor()), "rb"),
                                                             &gzclose);
  const auto read_all = [&](void* to, std::size_t size) {
    if (gzread(stream.get(), to, static_cast<unsigned>(size)) != static_cast<int>(size))
      fail(path, kDamaged);
  };
  TarHeader header;
  for (read_all(&header, sizeof header); !header.is_end(); read_all(&header, sizeof header)) {
    if (!header.is_intact()) fail(path, kDamaged);
    std::uint64_t left = TarHeader::number(header.size);
    const std::uint64_t blocks = (left + sizeof header - 1) / sizeof header;
    const z_off_t next = gztell(stream.get()) + static_cast<z_off_t>(blocks * sizeof header);
    const std::string name = last_part({header.name.data(), strnlen(header.name.data(), 100)});
    if (header.is_file() && std::erase(missing, name) > 0)
      write_file(folder / name, [&](char* to, std::size_t size) {
        const std::size_t now = std::min<std::uint64_t>(left, size);
        read_all(to, now);
        left -= now;
        return now;
      });
    if (gzseek(stream.get(), next, SEEK_SET) != next) fail(path, kDamaged);
  }
}

bool is_zip(const fs::path& path) {
  InputFile file(path);
  std::array<char, 2> begin{};
  file.read(begin.data(), begin.size());
  return begin == std::array{'P', 'K'};
}

}  // namespace

void unpack(const fs::path& path, const std::vector<std::string>& names, const fs::path& folder) {
  const auto unpack_files = is_zip(path) ? unpack_zip : unpack_tar;
  std::vector<std::string> missing = names;
  unpack_files(InputFile(path), path, missing, folder);
  if (!missing.empty()) fail(path, "it does not have " + join(missing));
}

}  // namespace saccade
