#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/commands/command.h"

namespace saccade {

/// Parses a command line into the options of the command it names, and returns that command;
/// nullptr if help was requested, which is printed. Throws InputError for anything that no command
/// accepts.
const Command* read_command_line(std::span<const Command> commands, int argc,
                                 const char* const* argv);

/// Returns the command as typed, quoted as a shell requires.
std::string typed(int argc, const char* const* argv);

}  // namespace saccade
