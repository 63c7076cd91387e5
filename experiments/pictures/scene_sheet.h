#pragma once

#include "experiments/pictures/picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// The first `scenes` (1 to kMaxSheetScenes) training scenes of a task, as they are trained on:
/// digits shuffled and augmented, with their clutter. Each has what is to be answered above it, a
/// box around each digit - in kAnswerBox if it decides the answer, else in kOtherBox - and beside
/// it what the retina sees at the centre of the canvas, the finest scale first; tasks that are read
/// whole, line by line, have none of that. The same task gives the same picture.
Picture scene_sheet(const Task& task, int scenes);

inline constexpr Colour kAnswerBox = {64, 222, 255};
inline constexpr Colour kOtherBox = {255, 152, 92};

}  // namespace saccade
