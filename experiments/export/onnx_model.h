#pragma once

#include <span>
#include <string>

#include "experiments/task/task.h"

namespace saccade {

/// What to export.
enum class OnnxExtent {
  step,     // one step: from glimpse and state to the answer and the next location
  episode,  // the whole episode: from canvas to answer
};

/// Throws InputError naming the setting if an episode cannot be played on a canvas alone, because
/// it follows facts of its scene: where the digit is (`oracle`), or that it ends after its last
/// digit. `who` plays, and `otherwise` ends the list of what is allowed, in the message.
void require_canvas_only(const Task& task, const std::string& who, const std::string& otherwise);

/// Returns a trained agent as the bytes of an .onnx file (operator set Graph::kOpset), for any
/// batch size, in float32, computing the single deterministic pass.
///
/// `step`: inputs `glimpse` and `location` (a grid with a soft read: `candidates` and `weights`;
/// addressing by content: `candidates`; a canvas that is read directly: `part` or `canvas`;
/// model.context: `thumbnail`), `state` and whatever else the core carries (`cell`; `keys0`,
/// `values0`, ..), `states` if attention.hidden reads more than the last, and `step` if the index
/// of the look matters. Outputs `log_probabilities` of the classes or actions, `baseline` if one is
/// learned, `next_location` (and `next_probabilities`, `next_weights`, `next_window`),
/// `first_location` (..) unless the first look is sampled, and `next_state` .. for the inputs of
/// the next step. An episode with fewer looks than the maximum (a bag of fewer digits) is answered
/// after its last look that counts.
///
/// `episode`: input `canvas` (batch, channels, rows, cols) in [0, 1], and `first_location` if the
/// first look is sampled; outputs `log_probabilities` after the last look and `locations` (batch,
/// T, L): L is 2, or 3 with a zoom.
///
/// The metadata hold the version, the configuration, the classes and the meaning of each input and
/// output. Throws InputError naming the setting for an agent that cannot be expressed in ONNX.
std::string onnx_model(const Task& task, std::span<const float> weights, OnnxExtent extent);

}  // namespace saccade
