#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace saccade {

/// Why the system refused the last thing that was asked of it: "No space left on device". Streams
/// do not always leave a reason: errno is set to 0 before they are asked.
inline std::string system_reason() {
  return errno == 0 ? "the system gave no reason" : std::generic_category().message(errno);
}

}  // namespace saccade
