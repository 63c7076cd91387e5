#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/verbs/verb.h"

namespace saccade {

/// Reads a command line into the options of the verb that it names, and returns that verb; nullptr
/// where help was asked for, which is printed. Throws InputError for what no verb understands.
const Verb* read_command_line(std::span<const Verb> verbs, int argc, const char* const* argv);

/// A word, quoted where a shell needs it.
std::string shell_word(const std::string& word);
/// The command as typed, quoted where a shell needs it.
std::string typed(int argc, const char* const* argv);

}  // namespace saccade
