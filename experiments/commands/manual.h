#pragma once

#include <span>
#include <string>

#include "experiments/commands/command.h"

namespace saccade {

/// The manual page of the program, for man(1): commands, options, settings, files, exit codes.
std::string manual(std::span<const Command> commands);

}  // namespace saccade
