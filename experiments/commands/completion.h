#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/commands/command.h"

namespace saccade {

/// `bash`, `zsh`, `fish`
std::vector<std::string> shells();

/// Returns a script with which a shell completes commands, options, settings and the names of
/// presets and trained agents. Throws InputError listing the shells.
std::string completion(const std::string& shell, std::span<const Command> commands);

}  // namespace saccade
