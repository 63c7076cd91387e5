#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace saccade {

/// Upper limit, above the size of any text or picture of a run.
inline constexpr std::uintmax_t kMostText = 1 << 30;

/// Reads a whole file. Throws as InputFile does, and InputError if the file has more than
/// `most_bytes`.
std::string read_text(const std::filesystem::path& path, std::uintmax_t most_bytes = kMostText);

}  // namespace saccade
