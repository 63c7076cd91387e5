#pragma once

#include "agent/spec/config.h"
#include "env/environment.h"

namespace saccade {

/// Throws InputError naming the keys of settings that contradict each other, in one part or between
/// parts. `config.glimpse` is settled; `answer` is what the agent will be asked for.
void check(const AgentConfig& config, AnswerKind answer);

/// The part of it that is about learning: lanes, rollouts, the advantage and the optimizer.
void check_learning(const AgentConfig& config);

}  // namespace saccade
