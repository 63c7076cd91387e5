#include "experiments/pictures/colours.h"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

// Interpolates between evenly spaced colours.
Colour along(std::span<const Colour> scale, double share) {
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(scale.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), scale.size() - 2);
  return mixed(scale[below], scale[below + 1], place - static_cast<double>(below));
}

}  // namespace

Colour variant_colour(int variant) {
  static constexpr Colour kColours[] = {{0, 114, 178},   {213, 94, 0},   {0, 158, 115},
                                        {204, 121, 167}, {86, 180, 233}, {230, 159, 0},
                                        {120, 120, 120}};
  return kColours[static_cast<std::size_t>(variant) % std::size(kColours)];
}

Colour heat_colour(double heat) {
  static constexpr Colour kPlasma[] = {{13, 8, 135},   {75, 3, 161},   {125, 3, 168},
                                       {168, 34, 150}, {203, 70, 121}, {229, 107, 93},
                                       {248, 148, 65}};
  return along(kPlasma, heat);
}

Colour exposure_colour(double exposure) {
  static constexpr Colour kCividis[] = {{0, 32, 77},     {0, 48, 111},    {42, 64, 108},
                                        {72, 82, 107},   {94, 98, 110},   {114, 115, 116},
                                        {135, 132, 121}, {158, 150, 119}, {182, 169, 113},
                                        {208, 190, 103}, {234, 211, 87},  {255, 234, 70}};
  return along(kCividis, exposure);
}

Colour mixed(Colour from, Colour to, double share) {
  const auto channel = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround((1.0 - share) * a + share * b));
  };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

}  // namespace saccade
