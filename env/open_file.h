#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/input_file.h"
#include "base/system_reason.h"

namespace saccade {

/// Opens a file of a dataset. Throws InputError "missing" if it does not exist, else as InputFile.
inline InputFile open_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw InputError(path.string() + ": missing");
  return InputFile(path);
}

}  // namespace saccade
