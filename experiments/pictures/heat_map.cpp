#include "experiments/pictures/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/evaluation/coverage.h"

namespace saccade {
namespace {

std::uint8_t mixed(std::uint8_t below, std::uint8_t above, double opacity) {
  return static_cast<std::uint8_t>(std::lround((1.0 - opacity) * below + opacity * above));
}

}  // namespace

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
