#pragma once

#include <memory>

#include "agent/spec/config.h"
#include "attention/score.h"
#include "nn/parameters.h"

namespace saccade {

/// What attention.glimpse.addressing makes of a state and the candidates: their logits, as a score.
/// `content`: the score of a name, of the state against every candidate's embedding;
/// `location`: a function of the state alone, the Locator's outputs `logits`, or of [state | c]:
/// its keys are what a context network adds (B, locator_hidden), or have no data. `state` says, for
/// counting its work, whether it is detached.
std::unique_ptr<const Score> make_addressing(const AgentConfig& config, int num_candidates,
                                             Input state, ParameterLayout& layout);

/// Whether the logits depend on what the candidates show.
bool addresses_by_content(const GlimpseConfig& config);

}  // namespace saccade
