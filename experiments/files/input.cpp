#include "experiments/files/input.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "nn/error.h"
#include "nn/system_reason.h"

namespace saccade {
namespace {

[[noreturn]] void cannot_be_read(const std::filesystem::path& path, const std::string& why) {
  throw InputError(fmt::format("{}: cannot be read: {}", path.string(), why));
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) cannot_be_read(path, "it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_refused(path.string() + ": cannot be read");
  std::string text;
  std::array<char, 1 << 16> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0)
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw_refused(path.string() + ": cannot be read");
  return text;
}

std::string read_text(const std::filesystem::path& path, std::uintmax_t most_bytes) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);  // of plain files alone
  if (error) throw_refused(path.string() + ": cannot be read", error.value());
  if (bytes > most_bytes)
    cannot_be_read(path, fmt::format("it has {} bytes; allowed: at most {}", bytes, most_bytes));
  return read_text(path);
}

}  // namespace saccade
