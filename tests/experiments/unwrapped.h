#pragma once

#include <sstream>
#include <string>

namespace saccade {

/// Joins text that was wrapped to the width of a screen into one line.
inline std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

}  // namespace saccade
