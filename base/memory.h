#pragma once

#include <cstdint>
#include <string>

namespace saccade {

/// Bytes that this process can still allocate without swapping: what is free on the machine, or in
/// its control group (v2) if that is less. The largest integer if neither is known.
std::int64_t available_memory();

/// Throws InputError if `bytes` exceed the available memory: "<what> needs at least 61 GB, and 7.9
/// GB are left; <advice>". `bytes` is a double because products of sizes may exceed 64 bits.
void require_memory(double bytes, const std::string& what, const std::string& advice);

}  // namespace saccade
