#pragma once

#include "experiments/comparison/chart.h"
#include "experiments/pictures/picture.h"

namespace saccade {

/// A chart for papers: on white, 1600 pixels wide (matrices 1200), as high as it needs. Letters
/// beyond ASCII are drawn as '?'.
Picture chart_picture(const Chart& chart);

}  // namespace saccade
