#pragma once

#include <stdexcept>

namespace saccade {

/// User input cannot be used: command line, configuration, data or checkpoint. The message names
/// the value, what is allowed and where it was read. main() exits with 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A number that must be finite is not. main() exits with 1.
struct NonFiniteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace saccade
