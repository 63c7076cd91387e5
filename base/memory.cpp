#include "base/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/error.h"

namespace saccade {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

std::int64_t left_on_machine() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("MemAvailable:"))
      return 1024 * std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10);
  return kUnknown;
}

// Without a limit the file contains "max" or does not exist.
std::int64_t left_in_group() {
  std::int64_t most = 0, taken = 0;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> most) ||
      !(std::ifstream("/sys/fs/cgroup/memory.current") >> taken))
    return kUnknown;
  return std::max<std::int64_t>(0, most - taken);
}

}  // namespace

std::int64_t available_memory() { return std::min(left_on_machine(), left_in_group()); }

void require_memory(double bytes, const std::string& what, const std::string& advice) {
  constexpr double kGigabyte = 1e9;
  const auto left = static_cast<double>(available_memory());
  if (bytes > left)
    throw InputError(fmt::format("{} needs at least {:.3g} GB, and {:.3g} GB are left; {}", what,
                                 bytes / kGigabyte, left / kGigabyte, advice));
}

}  // namespace saccade
