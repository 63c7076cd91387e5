#pragma once

#include "experiments/pictures/picture.h"

namespace saccade {

// What all pictures are drawn with.
inline constexpr Colour kPaper = {255, 255, 255};
inline constexpr Colour kInk = {33, 37, 41};
inline constexpr Colour kGrey = {120, 126, 133};
inline constexpr Colour kRightColour = {38, 150, 74};
inline constexpr Colour kWrongColour = {209, 46, 46};

}  // namespace saccade
