#pragma once

#include <string>
#include <utility>
#include <vector>

namespace saccade {

/// "0.2.0"
std::string version();

/// How the program was built, as names and values: version, commit, compiler, instructions, ranks,
/// libraries.
std::vector<std::pair<std::string, std::string>> build_facts();

}  // namespace saccade
