#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/input_file.h"
#include "base/system_reason.h"

namespace saccade {

/// A file of a data set. Throws InputError "missing" where nothing is there, else as InputFile.
inline InputFile open_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw InputError(path.string() + ": missing");
  return InputFile(path);
}

}  // namespace saccade
