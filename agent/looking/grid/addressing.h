#pragma once

#include <memory>

#include "agent/spec/config.h"
#include "attention/score.h"
#include "nn/parameters.h"

namespace saccade {

/// Makes the score that attention.glimpse.addressing asks for, which turns a state and the
/// candidates into logits. `content`: a named score of the state against every candidate's
/// embedding; `location`: a function of the state alone, the Locator's outputs `logits`, or of
/// [state | c]: its keys are then the context network's contribution (B, locator_hidden), and
/// otherwise have no data. `state` says whether the state is detached, to count the work.
std::unique_ptr<const Score> make_addressing(const AgentConfig& config, int num_candidates,
                                             Input state, ParameterLayout& layout);

/// Whether the logits depend on the candidates' glimpses.
bool addresses_by_content(const GlimpseConfig& config);

}  // namespace saccade
