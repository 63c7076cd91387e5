#include "agent/looking/smooth_look.h"

#include "nn/rows.h"

namespace saccade {

SmoothLook::SmoothLook(int steps, int episodes, int location_size, int glimpse_size)
    : slopes_(zeros<3>(steps, episodes, location_size * glimpse_size)) {}

void SmoothLook::forward(Environment& environment, int t, ConstMatrix locations, Matrix glimpses) {
  environment.look_smoothly(locations, glimpses, step(slopes_, t));
}

void SmoothLook::backward(Matrix dlocations, int t, ConstMatrix dglimpses) const {
  const ConstMatrix slopes = step(slopes_, t);
  const int size = dglimpses.cols;
  for (int b = 0; b < dlocations.rows; ++b)
    for (int axis = 0; axis < dlocations.cols; ++axis)
      dlocations(b, axis) += dot(slopes.row(b) + axis * size, dglimpses.row(b), size);
}

void SmoothLook::canvas_backward(Matrix dcanvases, const Environment& environment,
                                 const Tensor<3>& locations, const Tensor<3>& dglimpses) {
  const auto pixels = static_cast<std::size_t>(dcanvases.cols);
  const auto [steps, episodes, size] = dglimpses.shape();
  for (std::size_t t = 0; t < steps; ++t)
    for (std::size_t b = 0; b < episodes; ++b)
      environment.look_smoothly_backward({dcanvases.row(static_cast<int>(b)), pixels},
                                         &locations(t, b, 0), {&dglimpses(t, b, 0), size});
}

}  // namespace saccade
