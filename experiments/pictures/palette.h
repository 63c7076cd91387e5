#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/pictures/picture.h"

namespace saccade {

/// A reduced set of colours: pixel i is drawn in colours[indices[i]].
struct Palette {
  std::vector<Colour> colours;
  std::vector<std::uint8_t> indices;
};

/// Chooses at most `limit` (1 to 256) colours for these pixels: exactly theirs if they have no
/// more, otherwise by repeatedly splitting the colours at the mean where they scatter most (in the
/// spirit of Wu 1991). A colour that makes up most of a part is kept exactly, so that flat areas
/// are exact. The same pixels give the same palette.
Palette choose_palette(std::span<const Colour> pixels, int limit);

}  // namespace saccade
