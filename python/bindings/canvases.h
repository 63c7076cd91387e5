#pragma once

#include <vector>

#include "python/bindings/worlds.h"

namespace saccade::python {

/// Canvases (N, channels, rows, cols) for an agent to look at, and their classes, or none.
struct Canvases {
  Pixels pixels;
  std::vector<int> labels;
};

}  // namespace saccade::python
