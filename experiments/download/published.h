#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

/// A published file of a dataset.
struct PublishedFile {
  std::string name;               // file name on disk
  std::int64_t bytes;             // size
  std::string sha256;             // 64 lower-case hex digits
  std::vector<std::string> urls;  // sources, best first
  // For an archive (.zip, .tar.gz) the files to extract, by name without folders; otherwise empty.
  std::vector<std::string> members = {};
};

/// Returns the files of a published dataset: `mnist`, `svhn`, ... as in data.source. Throws
/// InputError for another name, listing the valid ones.
const std::vector<PublishedFile>& published_files(const std::string& source);
/// Returns the names of all published datasets.
std::vector<std::string> published_sets();

}  // namespace saccade
