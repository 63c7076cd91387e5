#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace saccade {

/// User input cannot be used: command line, configuration, data or checkpoint. The message names
/// the value, what is allowed and where it was read. main() exits with 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Settings that contradict each other, or do not fit the data. `keys`: full keys ("scene.canvas"),
/// the wrong one first. Configurations add to the message where the first one that was given is.
struct SettingError : InputError {
  SettingError(std::vector<std::string> keys_, const std::string& message)
      : InputError(message), keys(std::move(keys_)) {}

  std::vector<std::string> keys;
};

/// A number that must be finite is not. main() exits with 1.
struct NonFiniteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace saccade
