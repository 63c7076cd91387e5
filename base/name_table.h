#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace saccade {

/// "a, b, c"
inline std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// An explicit table from names to entries. A new entry is a new line.
template <class T>
class NameTable {
 public:
  NameTable(std::string what, std::vector<std::pair<std::string, T>> entries)
      : what_(std::move(what)), entries_(std::move(entries)) {}

  /// Throws InputError listing the valid names if the name is unknown.
  const T& at(const std::string& name) const {
    if (const T* found = find(name)) return *found;
    throw InputError("unknown " + what_ + " '" + name + "'; allowed: " + join(names()));
  }

  /// Null if the name is unknown.
  const T* find(const std::string& name) const {
    for (const auto& [key, value] : entries_)
      if (key == name) return &value;
    return nullptr;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : entries_) all.push_back(entry.first);
    return all;
  }

 private:
  std::string what_;
  std::vector<std::pair<std::string, T>> entries_;
};

}  // namespace saccade
