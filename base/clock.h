#pragma once

#include <chrono>
#include <string>

namespace saccade {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns "1:02:03" or "2:03".
std::string clock_time(double seconds);

}  // namespace saccade
