#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace saccade {

/// A whole file. Throws as throw_refused(), naming it and why it cannot be read.
std::string read_text(const std::filesystem::path& path);
/// The same of a file that anyone may have made: one of more than `most_bytes`, or no plain file,
/// is refused before anything is read.
std::string read_text(const std::filesystem::path& path, std::uintmax_t most_bytes);

}  // namespace saccade
