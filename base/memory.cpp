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

// What the group holds of files can be given up for what this process allocates.
std::int64_t files_in(const std::filesystem::path& group) {
  std::ifstream statistics(group / "memory.stat");
  std::string name;
  for (std::int64_t bytes = 0; statistics >> name >> bytes;)
    if (name == "inactive_file") return bytes;
  return 0;
}

// The path of this process's group, "/user.slice/session-2.scope"; empty if there is none.
std::string own_group() {
  const std::string before = "0::";
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with(before)) return line.substr(before.size());
  return "";
}

}  // namespace

// Without a limit the file contains "max" or does not exist.
std::int64_t memory_left_in(const std::filesystem::path& group) {
  std::int64_t most = 0, taken = 0;
  if (!(std::ifstream(group / "memory.max") >> most) ||
      !(std::ifstream(group / "memory.current") >> taken))
    return kUnknown;
  return std::max<std::int64_t>(0, most - std::max<std::int64_t>(0, taken - files_in(group)));
}

std::int64_t memory_left_in(const std::filesystem::path& root, const std::filesystem::path& own) {
  std::filesystem::path group = root;
  std::int64_t left = memory_left_in(group);
  for (const std::filesystem::path& name : own.relative_path()) {
    if (name == "..") break;  // outside what this process may see
    group /= name;
    left = std::min(left, memory_left_in(group));
  }
  return left;
}

std::int64_t available_memory() {
  return std::min(left_on_machine(), memory_left_in("/sys/fs/cgroup", own_group()));
}

void require_memory(double bytes, const std::string& what, const std::string& advice) {
  constexpr double kGigabyte = 1e9;
  const auto left = static_cast<double>(available_memory());
  if (bytes > left)
    throw InputError(fmt::format("{} needs at least {:.3g} GB, and {:.3g} GB are left; {}", what,
                                 bytes / kGigabyte, left / kGigabyte, advice));
}

}  // namespace saccade
