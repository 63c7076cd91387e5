#pragma once

#include "experiments/comparison/drawing.h"

namespace saccade {

/// Renders a drawing on white paper, `scale` picture pixels per page pixel. Non-ASCII letters
/// become '?'.
Picture picture_of(const Drawing& drawing, double scale);

}  // namespace saccade
