#pragma once

#include <span>

#include "experiments/config/config.h"

namespace saccade {

/// What to do with settings that nothing reads: tell them on standard error, refuse them, or keep
/// quiet.
enum class Unused { told, refused, passed_over };

/// Of one run or of all runs of a study. Throws InputError where they are refused.
void warn_of_unused(std::span<const Config* const> configs, Unused unused);

}  // namespace saccade
