#include "base/read_text.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/input_file.h"
#include "base/system_reason.h"

namespace saccade {

std::string read_text(const std::filesystem::path& path, std::uintmax_t most_bytes) {
  InputFile file(path);
  const auto check_size = [&](std::uintmax_t bytes) {
    if (bytes > most_bytes)
      throw InputError(fmt::format("{}: cannot be read: it has {} bytes; allowed: at most {}",
                                   path.string(), bytes, most_bytes));
  };
  check_size(file.size());
  std::string text;
  std::array<char, 1 << 16> block;
  errno = 0;
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    check_size(text.size());  // the file may be growing
  }
  if (file.bad()) throw_refused(path.string() + ": cannot be read");
  return text;
}

}  // namespace saccade
