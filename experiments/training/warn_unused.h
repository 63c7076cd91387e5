#pragma once

#include <span>

#include "experiments/config/config.h"

namespace saccade {

/// What to do with unused settings: warn on standard error, refuse them, or ignore them.
enum class Unused { warn, refuse, ignore };

/// Covers all runs of a study, or one. Throws InputError if unused settings are refused.
void warn_of_unused(std::span<const Config* const> configs, Unused unused);
inline void warn_of_unused(const Config& config, Unused unused) {
  const Config* const one = &config;
  warn_of_unused({&one, 1}, unused);
}

}  // namespace saccade
