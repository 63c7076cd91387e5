#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace saccade {

/// The tree that the tests belong to. Defined in main.cpp.
std::filesystem::path source_folder();

/// A new empty folder, removed with its contents at the end of the scope.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "saccade-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make the folder " + name);
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path path;
};

/// Gives an environment variable another value, or none (nullptr), until the end of the scope.
class TemporaryVariable {
 public:
  TemporaryVariable(const char* name, const char* value) : name_(name) {
    const char* old = std::getenv(name);
    had_value_ = old != nullptr;
    if (had_value_) old_value_ = old;
    set(value);
  }
  ~TemporaryVariable() { set(had_value_ ? old_value_.c_str() : nullptr); }
  TemporaryVariable(const TemporaryVariable&) = delete;
  TemporaryVariable& operator=(const TemporaryVariable&) = delete;

 private:
  void set(const char* value) {
    if (value == nullptr)
      unsetenv(name_);
    else
      setenv(name_, value, 1);
  }

  const char* name_;
  bool had_value_ = false;
  std::string old_value_;
};

/// The message of the Error that `action` throws, or "nothing thrown". Other exceptions pass.
template <class Error, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

}  // namespace saccade
