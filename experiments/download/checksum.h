#pragma once

#include <filesystem>
#include <string>

namespace saccade {

/// Returns the SHA-256 of a file as 64 lower-case hex digits. Throws std::runtime_error naming a
/// file that cannot be read.
std::string sha256_of(const std::filesystem::path& path);

}  // namespace saccade
