#pragma once

#include <stdexcept>
#include <string>

/// Checks an internal contract: throws std::logic_error in the presets check, asan and tsan,
/// compiled out in release.
#ifdef SACCADE_CHECKS
#define SACCADE_CHECK(condition)                                                            \
  do {                                                                                      \
    if (!(condition))                                                                       \
      throw std::logic_error(std::string(__func__) + ": contract violated: " + #condition); \
  } while (false)
#else
#define SACCADE_CHECK(condition) static_cast<void>(sizeof(!(condition)))  // not evaluated
#endif
