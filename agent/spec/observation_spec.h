#pragma once

#include "agent/spec/pixel_scale.h"
#include "env/environment.h"

namespace saccade {

/// What a model is to see, and what it is to say.
struct ObservationSpec {
  int glimpse_size = 0;    // D
  int num_classes = 0;     // C
  CanvasSize canvas = {};  // for grids and windows; empty if the world gives glimpses
  PixelScale pixels = {};  // how they are read
  int patch_size = 0;      // of the retina, for pictures and metrics; 0 without one
  AnswerKind answer = AnswerKind::one_class;
  int max_symbols = 0;        // J: of a sequence
  double widest_patch = 0.0;  // side in pixels of what the coarsest scale covers, for metrics
};

}  // namespace saccade
