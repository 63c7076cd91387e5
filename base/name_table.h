#pragma once

#include <algorithm>
#include <atomic>
#include <stdexcept>
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

/// Whether `text` can name a kind: lower-case letters, digits and '_', the first a letter.
inline bool is_kind_name(const std::string& text) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && letter(text[0]) && std::ranges::all_of(text, [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

/// An explicit table from names to entries. A new entry is a new line, or is added by the program
/// that uses the table, before anything reads it.
template <class T>
class NameTable {
 public:
  /// Throws InputError for a name that is there twice.
  NameTable(std::string what, std::vector<std::pair<std::string, T>> entries)
      : what_(std::move(what)) {
    for (auto& [name, entry] : entries) {
      check_free(name);
      entries_.emplace_back(name, std::move(entry));
    }
  }

  /// Throws InputError listing the valid names if the name is unknown. `what`: what the message
  /// calls the table, if not by its own name.
  const T& at(const std::string& name, const std::string& what = {}) const {
    if (const T* found = find(name)) return *found;
    throw InputError("unknown " + (what.empty() ? what_ : what) + " '" + name +
                     "'; allowed: " + join(names()));
  }

  /// Null if the name is unknown.
  const T* find(const std::string& name) const {
    note_use();
    for (const auto& [key, value] : entries_)
      if (key == name) return &value;
    return nullptr;
  }

  std::vector<std::string> names() const {
    note_use();
    std::vector<std::string> all;
    for (const auto& entry : entries_) all.push_back(entry.first);
    return all;
  }

  /// Adds an entry. Throws InputError for a name that there is or that names no kind, and
  /// std::logic_error once the table has been read: what was derived from it would not know the
  /// entry. Call from one thread.
  void add(const std::string& name, T entry) {
    if (used_.load(std::memory_order_relaxed))
      throw std::logic_error(refusal_of(name) + "the table was read; allowed: before that");
    if (!is_kind_name(name))
      throw InputError(refusal_of(name) +
                       "allowed: lower-case letters, digits and '_', the first a letter");
    check_free(name);
    entries_.emplace_back(name, std::move(entry));
  }

 private:
  std::string refusal_of(const std::string& name) const {
    return what_ + ": '" + name + "' cannot be registered: ";
  }
  void check_free(const std::string& name) const {
    for (const auto& [key, value] : entries_)
      if (key == name) throw InputError(refusal_of(name) + "the name is taken");
  }
  void note_use() const {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }

  std::string what_;
  std::vector<std::pair<std::string, T>> entries_;
  mutable std::atomic<bool> used_ = false;
};

}  // namespace saccade
