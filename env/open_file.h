#pragma once

#include <filesystem>

#include "nn/error.h"
#include "nn/input_file.h"
#include "nn/system_reason.h"

namespace saccade {

/// A file of a data set. Throws InputError "missing" where nothing is there, else as InputFile.
inline InputFile open_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw InputError(path.string() + ": missing");
  return InputFile(path);
}

}  // namespace saccade
