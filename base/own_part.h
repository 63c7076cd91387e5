#pragma once

#include <stdexcept>

namespace saccade {

/// A part that a program gives (its scenes, its reward) failed, or gave what is not allowed. The
/// message names it. A training saves its state and stops.
struct OwnPartError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace saccade
