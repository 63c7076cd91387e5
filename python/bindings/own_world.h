#pragma once

#include <nanobind/nanobind.h>

#include "env/own_world.h"

namespace saccade::python {

/// The worlds of a saccade._own_world.OwnWorlds, which the caller keeps alive, and which keeps
/// those that it makes: called with a number of episodes B, it returns an object with
///   reset(scenes (B) int64) -> labels (B) int64 or None
///   look(locations (B, 2) float32) -> glimpses (B, D) float32, locations or None, labels or None
///   act(actions (B) int64) -> rewards (B) float32.
/// Any thread may call it, without the interpreter's lock. All throw std::runtime_error with the
/// type and the text of what Python raised.
OwnWorldMaker python_worlds(nanobind::handle worlds);

}  // namespace saccade::python
