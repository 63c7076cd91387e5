#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace saccade {

inline void check_contains(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    CAPTURE(message);
    CAPTURE(word);
    CHECK(message.find(word) != std::string::npos);
  }
}

}  // namespace saccade
