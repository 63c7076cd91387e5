#pragma once

#include <span>

#include "experiments/pictures/picture.h"

namespace saccade {

// What all pictures are drawn with.
inline constexpr Colour kPaper = {255, 255, 255};
inline constexpr Colour kInk = {33, 37, 41};
inline constexpr Colour kSoftInk = {91, 96, 104};
inline constexpr Colour kGrey = {120, 126, 133};
inline constexpr Colour kRule = {217, 220, 225};   // of grids and frames
inline constexpr Colour kOutline = {16, 24, 32};   // around what is drawn over a canvas
inline constexpr Colour kFullCell = {0, 92, 158};  // of a confusion matrix
inline constexpr Colour kRightColour = {38, 150, 74};
inline constexpr Colour kWrongColour = {209, 46, 46};

/// What a picture is drawn on and written with. Canvases, heat and verdicts look the same on all.
struct Theme {
  Colour paper = kPaper;
  Colour ink = kInk;
  Colour grey = kGrey;              // of words beside the point
  Colour track = {236, 239, 242};   // behind a bar
  Colour bar = {166, 184, 204};     // of a class
  Colour true_bar = {44, 98, 168};  // of the true class
};
inline constexpr Theme kLightTheme = {};
/// For dark pages, as page/report.css has them.
inline constexpr Theme kDarkTheme = {.paper = {21, 23, 27},
                                     .ink = {230, 232, 236},
                                     .grey = {162, 168, 179},
                                     .track = {45, 49, 56},
                                     .bar = {94, 111, 132},
                                     .true_bar = {108, 184, 238}};

/// Of the variant at that place of a comparison: told apart by the colour-blind (Okabe and Ito
/// 2008), the first seven all different.
Colour variant_colour(int variant);

/// From dark blue by magenta to orange, in even steps to the eye: plasma (Smith and van der Walt
/// 2015) without its yellow end, on which white is hard to see. For weights, beside and over
/// canvases. `heat` in [0, 1]; what is beyond counts as its end.
Colour heat_colour(double heat);

/// From dark blue to yellow, lightness rises evenly also for the colour-blind and in grey print:
/// cividis (Nunez et al. 2018). For maps of where was looked. `exposure` as `heat` above.
Colour exposure_colour(double exposure);

/// `share` in [0, 1] of the way from one to the other.
Colour mixed(Colour from, Colour to, double share);

}  // namespace saccade
