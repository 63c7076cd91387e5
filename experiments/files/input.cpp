#include "experiments/files/input.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "nn/error.h"

namespace saccade {

std::string read_text(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    throw InputError(path.string() + ": cannot be read: " + why);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::generic_category().message(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace saccade
