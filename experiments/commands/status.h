#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// `saccade status`
struct StatusOptions {
  std::filesystem::path study;         // its folder or its file
  std::vector<std::string> overrides;  // for the file
  std::filesystem::path out;           // with the file: as for `saccade run`
  bool json = false;
};

/// Returns the state of each run of a study, as a table or a JSON document. Throws InputError if it
/// is not a study.
std::string status(const StatusOptions& options);

}  // namespace saccade
