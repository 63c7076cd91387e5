#include "experiments/training/warn_unused.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "experiments/config/unused_settings.h"

namespace saccade {

void warn_of_unused(std::span<const Config* const> configs, Unused unused) {
  if (unused == Unused::ignore) return;
  const std::vector<UnusedSetting> settings = unused_in_all(configs);
  if (settings.empty()) return;
  const std::vector<std::string> lines = to_lines(settings);
  if (unused == Unused::refuse)
    throw InputError(fmt::format("--strict: {}", fmt::join(lines, "; ")));
  for (const std::string& line : lines)
    fmt::print(stderr, "saccade: warning: {}\n", printable(line));
}

}  // namespace saccade
