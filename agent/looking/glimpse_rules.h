#pragma once

#include "agent/spec/glimpse_config.h"

namespace saccade {

/// Throws InputError naming attention.glimpse.<..> where a setting has no effect with the kind of
/// glimpse attention, or cannot be learned. `config` is settled.
void check(const GlimpseConfig& config);

}  // namespace saccade
