#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "nn/error.h"
#include "nn/system_reason.h"

namespace saccade {

/// A file of a data set. Throws InputError unless it is there and is a regular file (of a pipe
/// somebody would wait for bytes that never come), and as throw_refused() unless it can be opened.
inline std::ifstream open_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw InputError(path.string() + ": missing");
  if (!std::filesystem::is_regular_file(status))
    throw InputError(path.string() + ": is no regular file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_refused(path.string() + ": cannot be opened");
  return file;
}

}  // namespace saccade
