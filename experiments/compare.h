#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// `saccade compare`
struct CompareOptions {
  std::vector<std::filesystem::path> folders = {};  // of runs or studies
  std::filesystem::path out =
      {};  // empty: comparison/ in the folder given, or here where several are
  bool json = false;
  bool force = false;        // write over an older comparison
  std::string command = {};  // as typed, for the report
};

/// Puts trained agents side by side (see gather) and writes compare.md, compare.csv, report.html
/// and charts/*.png into the folder `out`. Returns the table, or with `json` one document, and in
/// both where the report is. Throws InputError as gather does, and where there is a comparison
/// already.
std::string compare(const CompareOptions& options);

}  // namespace saccade
