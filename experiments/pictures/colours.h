#pragma once

#include <span>

#include "experiments/pictures/picture.h"

namespace saccade {

// Colours common to all pictures.
inline constexpr Colour kPaper = {255, 255, 255};
inline constexpr Colour kInk = {33, 37, 41};
inline constexpr Colour kSoftInk = {91, 96, 104};
inline constexpr Colour kGrey = {120, 126, 133};
inline constexpr Colour kRule = {217, 220, 225};        // of grids and frames
inline constexpr Colour kOutline = {16, 24, 32};        // around what is drawn over a canvas
inline constexpr Colour kFullCell = {0, 92, 158};       // for confusion matrices
inline constexpr Colour kBarTrack = {236, 239, 242};    // behind a bar
inline constexpr Colour kClassBar = {166, 184, 204};    // a class
inline constexpr Colour kTrueClassBar = {44, 98, 168};  // the true class
inline constexpr Colour kRightColour = {38, 150, 74};
inline constexpr Colour kWrongColour = {209, 46, 46};

/// Returns the colour of a variant by its index in a comparison: distinguishable by the
/// colour-blind (Okabe and Ito 2008), the first seven all different.
Colour variant_colour(int variant);

/// Colour map from dark blue via magenta to orange, perceptually uniform: plasma (Smith and van der
/// Walt 2015) without its yellow end, on which white is hard to see. For weights, beside and over
/// canvases. `heat` is clamped to [0, 1].
Colour heat_colour(double heat);

/// Colour map from dark blue to yellow with evenly rising lightness, also for the colour-blind and
/// in greyscale print: cividis (Nunez et al. 2018). For maps of where agents looked. `exposure` is
/// clamped like `heat` above.
Colour exposure_colour(double exposure);

/// Interpolates: `share` in [0, 1] of the way from one to the other.
Colour mixed(Colour from, Colour to, double share);

}  // namespace saccade
