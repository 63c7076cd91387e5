#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// Extracts the files of these names (without folders) from an archive (.zip, .tar.gz) into a
/// folder, overwriting existing files, each atomically. Throws std::runtime_error naming an archive
/// that cannot be read or the files it lacks.
void unpack(const std::filesystem::path& archive, const std::vector<std::string>& names,
            const std::filesystem::path& folder);

}  // namespace saccade
