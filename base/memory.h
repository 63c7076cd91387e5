#pragma once

#include <cstdint>
#include <string>

namespace saccade {

/// Bytes that this process may still take without the system having to swap: what the machine has
/// left, and its control group (v2) where that is less. The largest integer where nobody says.
std::int64_t available_memory();

/// Throws InputError where `bytes` are more than are available: "<what> needs at least 61 GB, and
/// 7.9 GB are left; <advice>". A double, as products of sizes may be beyond 64 bits.
void require_memory(double bytes, const std::string& what, const std::string& advice);

}  // namespace saccade
