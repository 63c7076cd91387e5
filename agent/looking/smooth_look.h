#pragma once

#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// T looks between pixels, at a location of each of B episodes, and the backward pass to the
/// locations (Jaderberg et al. 2015, equations 5 to 7). Stores the slopes of the glimpses.
class SmoothLook {
 public:
  SmoothLook(int steps, int episodes, int location_size, int glimpse_size);

  /// Look t at locations (B, L): writes glimpses (B, D).
  void forward(Environment& environment, int t, ConstMatrix locations, Matrix glimpses);
  /// Adds to dlocations (B, L) the gradient of look t's locations that dglimpses (B, D) imply.
  void backward(Matrix dlocations, int t, ConstMatrix dglimpses) const;
  /// Adds to dcanvases (B, pixels) the gradient that dglimpses (T, B, D) of looks at locations (T,
  /// B, L) imply.
  static void canvas_backward(Matrix dcanvases, const Environment& environment,
                              const Tensor<3>& locations, const Tensor<3>& dglimpses);

 private:
  Tensor<3> slopes_;  // (T, B, L D): derivatives of a glimpse by x, by y, and by the zoom
};

}  // namespace saccade
