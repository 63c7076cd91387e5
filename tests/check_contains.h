#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace saccade {

/// Checks that a text contains each of these parts.
inline void check_contains(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    CAPTURE(text);
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace saccade
