#pragma once

#include "experiments/files/shipped.h"
#include "tests/experiments/support.h"

namespace saccade {

/// Without the module of pages: reports that the test is skipped, and returns true.
inline bool skipped_without_module(const std::string& test) {
  if (!shipped_page().empty()) return false;
  MESSAGE("skipped: '" << test << "' needs the module (scripts/install-deps --web, make web)");
  return true;
}

}  // namespace saccade
