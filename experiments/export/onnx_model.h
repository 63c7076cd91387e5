#pragma once

#include <span>
#include <string>

#include "experiments/task/task.h"

namespace saccade {

/// What of an agent is exported.
enum class OnnxExtent {
  step,     // one step: from a glimpse and the state to the answer and where to look next
  episode,  // all of it: from the canvas to the answer
};

/// A trained agent as the bytes of an .onnx file (operator set Graph::kOpset), for any size of the
/// batch, in float32, of the single deterministic pass.
///
/// `step`: inputs `glimpse` and `location` (a grid whose mean is taken: `candidates` and `weights`;
/// addressing by content: `candidates`; a canvas that is read as it is: `part` or `canvas`;
/// model.context: `thumbnail`), `state` and what else the core carries (`cell`; `keys0`, `values0`,
/// ..), `states` where attention.hidden reads more than the last, and `step` where the number of
/// the look matters. Outputs `log_probabilities` of the classes or actions, `baseline` where one is
/// learned, `next_location` (and `next_probabilities`, `next_weights`, `next_window`),
/// `first_location` (..) where the first look is not drawn, and `next_state` .. for the inputs of
/// the next step. An episode that counts fewer looks than there are (a bag of fewer digits) is
/// answered after the last that counts.
///
/// `episode`: input `canvas` (batch, channels, rows, cols) in [0, 1], and `first_location` where
/// the first look is drawn; outputs `log_probabilities` after the last look and `locations` (batch,
/// T, 2).
///
/// The metadata tell the version, the configuration, the classes and what each input and output
/// means. Throws InputError naming the setting for an agent that cannot be said so.
std::string onnx_model(const Task& task, std::span<const float> weights, OnnxExtent extent);

}  // namespace saccade
