#pragma once

#include <filesystem>
#include <string>

namespace saccade {

/// A whole file. Throws InputError naming it and why it cannot be read.
std::string read_text(const std::filesystem::path& path);

}  // namespace saccade
