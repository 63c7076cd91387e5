#pragma once

#include <vector>

#include "agent/looking/look.h"
#include "experiments/pictures/picture.h"

namespace saccade {

/// How much a look attends to each pixel of a canvas: the weight of each place, spread over its
/// finest patch as the retina lays it. (rows, cols), in [0, 1]: the most is 1, unless all lies
/// beyond the canvas.
std::vector<double> heat_map(const Gaze& gaze, int rows, int cols);

/// Lays the colours of `heat` (rows, cols) over a canvas of the same size, as opaque as they are
/// hot: at most `opacity`, and less where the canvas is light, so that digits stay visible.
void overlay_heat(Picture& canvas, const std::vector<double>& heat, double opacity);

}  // namespace saccade
