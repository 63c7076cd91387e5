#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

/// A file of a digit set, as it is published.
struct PublishedFile {
  std::string name;               // which it has on disk
  std::int64_t bytes;             // its size
  std::string sha256;             // 64 lower-case hex digits
  std::vector<std::string> urls;  // where it is, the best place first
  // Of an archive (.zip, .tar.gz) the files that are wanted, by their names without folders; of any
  // other file nothing.
  std::vector<std::string> members = {};
};

/// The files of a digit set that somebody publishes: `mnist`, `svhn`, ... as in data.source. Throws
/// InputError for another name, with those there are.
const std::vector<PublishedFile>& published_files(const std::string& source);
/// The names of all of them.
std::vector<std::string> published_sets();

}  // namespace saccade
