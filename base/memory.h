#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace saccade {

/// Bytes that this process can still allocate without swapping: what is free on the machine, or in
/// its control groups (v2) if that is less. The largest integer if neither is known.
std::int64_t available_memory();

/// Bytes that are left in the control group (v2) of this folder: its limit minus its use, of which
/// cached files that can be dropped do not count. The largest integer if it has no limit.
std::int64_t memory_left_in(const std::filesystem::path& group);

/// The least that is left in a group and in those above it, since each limits all below it. `root`
/// is where groups are mounted, `own` the path of the group below it.
std::int64_t memory_left_in(const std::filesystem::path& root, const std::filesystem::path& own);

/// Throws InputError if `bytes` exceed the available memory: "<what> needs at least 61 GB, and 7.9
/// GB are left; <advice>". `bytes` is a double because products of sizes may exceed 64 bits.
void require_memory(double bytes, const std::string& what, const std::string& advice);

}  // namespace saccade
