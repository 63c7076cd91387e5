#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "experiments/config/config.h"
#include "tests/check_contains.h"
#include "tests/support.h"

// Configurations from text, and the messages for invalid ones.
namespace saccade {

inline Config parse(const std::string& text, const Overrides& overrides = {}) {
  return parse_config(text, "x.yaml", overrides);
}

inline std::string message(const std::string& text, const Overrides& overrides = {}) {
  return message_of<InputError>([&] { parse(text, overrides); });
}

inline std::string override_message(const std::string& override) { return message("", {override}); }

inline void check_starts(const std::string& text, const std::string& start) {
  INFO("message: " << text);
  INFO("expected: " << start);
  CHECK(text.substr(0, start.size()) == start);
}

}  // namespace saccade
