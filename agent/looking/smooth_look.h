#pragma once

#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// T looks at a location of each of B episodes between pixels, and the way back to the locations
/// (Jaderberg et al. 2015, equations 5 to 7): the slopes of what was seen are kept.
class SmoothLook {
 public:
  SmoothLook(int steps, int episodes, int glimpse_size);

  /// Look t at locations (B, 2): glimpses (B, D).
  void forward(Environment& environment, int t, ConstMatrix locations, Matrix glimpses);
  /// Adds to dlocations (B, 2) what dglimpses (B, D) say of where look t was.
  void backward(Matrix dlocations, int t, ConstMatrix dglimpses) const;
  /// Adds to dcanvases (B, pixels) what dglimpses (T, B, D) of looks at locations (T, B, 2) say of
  /// them.
  static void canvas_backward(Matrix dcanvases, const Environment& environment,
                              const Tensor<3>& locations, const Tensor<3>& dglimpses);

 private:
  Tensor<3> slopes_;  // (T, B, 2 D): of a glimpse by x, then by y
};

}  // namespace saccade
