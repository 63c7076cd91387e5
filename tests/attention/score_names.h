#pragma once

#include <string>
#include <vector>

#include "attention/score.h"
#include "base/name_table.h"

namespace saccade {

/// As listed in error messages.
inline std::string scores_of_any_widths() {
  std::vector<std::string> names = score_kinds();
  std::erase_if(names, score_needs_equal_widths);
  return join(names);
}
inline std::string scores_without_query() {
  std::vector<std::string> names = score_kinds();
  std::erase_if(names, score_needs_query);
  return join(names);
}

}  // namespace saccade
