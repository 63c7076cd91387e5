#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// `saccade status`
struct StatusOptions {
  std::filesystem::path study;         // its folder or its file
  std::vector<std::string> overrides;  // of the file
  std::filesystem::path out;           // with the file: as of `saccade run`
  bool json = false;
};

/// How the runs of a study stand, one by one, as a table or a JSON document. Throws InputError for
/// what is no study.
std::string status(const StatusOptions& options);

}  // namespace saccade
