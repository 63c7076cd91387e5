#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace saccade {

/// More than any text or picture of a run has.
inline constexpr std::uintmax_t kMostText = 1 << 30;

/// A whole file. Throws as InputFile, and InputError if it has more than `most_bytes`.
std::string read_text(const std::filesystem::path& path, std::uintmax_t most_bytes = kMostText);

}  // namespace saccade
