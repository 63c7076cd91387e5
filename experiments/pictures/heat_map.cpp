#include "experiments/pictures/heat_map.h"

#include <algorithm>

#include "experiments/evaluation/coverage.h"
#include "experiments/pictures/colours.h"

namespace saccade {

std::vector<double> heat_map(const Gaze& gaze, int rows, int cols) {
  PatchSum patches({0, 0, cols, rows}, rows, cols);
  patches.add(gaze);
  const std::vector<float> total = patches.total();
  const double most = *std::ranges::max_element(total);
  std::vector<double> heat(total.size(), 0.0);
  if (most > 0.0)
    std::ranges::transform(total, heat.begin(),
                           [most](float weight) { return std::max(0.0, weight / most); });
  return heat;
}

void overlay_heat(Picture& canvas, const std::vector<double>& heat, double opacity) {
  constexpr double kBehindLight = 0.65;
  std::uint8_t* pixel = canvas.bytes().data();
  for (const double value : heat) {
    const double light = std::max({pixel[0], pixel[1], pixel[2]}) / 255.0;
    const double share = opacity * value * (1.0 - kBehindLight * light);
    const Colour colour = mixed({pixel[0], pixel[1], pixel[2]}, heat_colour(value), share);
    for (const std::uint8_t channel : {colour.red, colour.green, colour.blue}) *pixel++ = channel;
  }
}

}  // namespace saccade
