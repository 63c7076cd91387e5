#pragma once

#include "experiments/pictures/picture.h"
#include "experiments/task/world.h"

namespace saccade {

/// Draws the first `scenes` (1 to kMaxSheetScenes) training scenes of a world as used in training:
/// digits shuffled and augmented, with clutter. Above each is the expected answer; each digit has a
/// box, in kAnswerBox if it determines the answer, otherwise in kOtherBox; beside it is the
/// retina's view at the centre of the canvas, finest scale first. Tasks that are read whole, line
/// by line, have only the answer. The same world gives the same picture.
Picture scene_sheet(const World& world, int scenes);

inline constexpr Colour kAnswerBox = {64, 222, 255};
inline constexpr Colour kOtherBox = {255, 152, 92};

}  // namespace saccade
