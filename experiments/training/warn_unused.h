#pragma once

#include <span>

#include "experiments/config/config.h"

namespace saccade {

/// What to do with unused settings: warn on standard error, refuse them, or ignore them.
enum class Unused { on_progress, refused, passed_over };

/// Covers one run or all runs of a study. Throws InputError if unused settings are refused.
void warn_of_unused(std::span<const Config* const> configs, Unused unused);

}  // namespace saccade
