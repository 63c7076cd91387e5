#pragma once

#include <span>
#include <string>

#include "experiments/verbs/verb.h"

namespace saccade {

/// The manual page of the program, for man(1): verbs, options, settings, files, exit codes.
std::string manual(std::span<const Command> verbs);

}  // namespace saccade
