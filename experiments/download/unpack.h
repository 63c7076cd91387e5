#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saccade {

/// Takes the files of these names (without folders) out of an archive (.zip, .tar.gz) into a
/// folder, each whole or not at all, over what is there. Throws std::runtime_error naming an
/// archive that cannot be read and the files that are not in it.
void unpack(const std::filesystem::path& archive, const std::vector<std::string>& names,
            const std::filesystem::path& folder);

}  // namespace saccade
