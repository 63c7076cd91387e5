#pragma once

#include <nanobind/nanobind.h>

#include "agent/credit/reward.h"

namespace saccade::python {

/// The reward of a saccade._own_reward.OwnReward: called with probabilities (T, B, C), labels (B),
/// boxes (B, K, 4) and locations (T, B, L), it returns rewards (T, B) as float32. The caller keeps
/// it alive; any thread may call the function, without the interpreter's lock. Throws OwnPartError
/// with the type and the text of what Python raised.
RewardFunction python_reward(nanobind::handle reward);

}  // namespace saccade::python
