#pragma once

#include "experiments/comparison/drawing.h"

namespace saccade {

/// A drawing on white paper, `scale` pixels of the picture for one of the page. Letters beyond
/// ASCII are drawn as '?'.
Picture picture_of(const Drawing& drawing, double scale);

}  // namespace saccade
