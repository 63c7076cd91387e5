#pragma once

#include <vector>

#include "agent/looking/look.h"
#include "experiments/pictures/picture.h"

namespace saccade {

/// Returns how much a look attends to each pixel of a canvas: the weight of each place, spread over
/// its finest patch as laid out by the retina. (rows, cols), in [0, 1], scaled to a maximum of 1
/// unless everything is beyond the canvas.
std::vector<double> heat_map(const Gaze& gaze, int rows, int cols);

/// Overlays the colours of `heat` (rows, cols) on a canvas of the same size. The opacity grows with
/// the heat up to `opacity`, and is reduced where the canvas is light, so that digits stay visible.
void overlay_heat(Picture& canvas, const std::vector<double>& heat, double opacity);

}  // namespace saccade
