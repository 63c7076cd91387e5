#include "experiments/pictures/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace saccade {
namespace {

struct Stretch {
  int begin, end;
};

// The pixels of an axis that a patch around a place covers, rounded as the retina does. A window
// may be anywhere, or not a number.
Stretch covered(float place, float half_side, int pixels) {
  const double point = 0.5 * (place + 1.0) * pixels;
  // Half a patch is a multiple of 1/2, which the division by the canvas must not blur.
  const double half = std::round(0.5 * half_side * pixels * 4096.0) / 4096.0;
  const auto on_canvas = [&](double edge) {
    const double pixel = std::floor(edge + 0.5);
    return static_cast<int>(std::min(std::max(0.0, pixel), static_cast<double>(pixels)));
  };
  return {on_canvas(point - half), on_canvas(point + half)};
}

std::uint8_t mixed(std::uint8_t below, std::uint8_t above, double opacity) {
  return static_cast<std::uint8_t>(std::lround((1.0 - opacity) * below + opacity * above));
}

}  // namespace

std::vector<double> heat_map(const Gaze& gaze, int rows, int cols) {
  std::vector<double> heat(static_cast<std::size_t>(rows) * cols, 0.0);
  for (int k = 0; k < gaze.places.rows; ++k) {
    const Stretch x = covered(gaze.places(k, 0), gaze.half_width, cols);
    const Stretch y = covered(gaze.places(k, 1), gaze.half_height, rows);
    for (int row = y.begin; row < y.end; ++row)
      for (int col = x.begin; col < x.end; ++col) heat[row * cols + col] += gaze.weights[k];
  }
  const double most = *std::ranges::max_element(heat);
  if (most > 0.0)
    for (double& value : heat) value /= most;
  return heat;
}

Colour heat_colour(double heat) {
  static constexpr std::array<Colour, 7> kPlasma = {{{13, 8, 135},
                                                     {75, 3, 161},
                                                     {125, 3, 168},
                                                     {168, 34, 150},
                                                     {203, 70, 121},
                                                     {229, 107, 93},
                                                     {248, 148, 65}}};
  const double place = std::clamp(heat, 0.0, 1.0) * (kPlasma.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kPlasma.size() - 2);
  const double share = place - static_cast<double>(below);
  const Colour a = kPlasma[below], b = kPlasma[below + 1];
  return {mixed(a.red, b.red, share), mixed(a.green, b.green, share), mixed(a.blue, b.blue, share)};
}

void overlay_heat(Picture& canvas, const std::vector<double>& heat, double opacity) {
  constexpr double kBehindLight = 0.65;
  std::uint8_t* pixel = canvas.bytes().data();
  for (const double value : heat) {
    const Colour colour = heat_colour(value);
    const double light = std::max({pixel[0], pixel[1], pixel[2]}) / 255.0;
    const double share = opacity * value * (1.0 - kBehindLight * light);
    for (const std::uint8_t above : {colour.red, colour.green, colour.blue}) {
      *pixel = mixed(*pixel, above, share);
      ++pixel;
    }
  }
}

}  // namespace saccade
