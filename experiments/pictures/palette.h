#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/pictures/picture.h"

namespace saccade {

/// Few colours in place of many: pixel i is drawn in colours[indices[i]].
struct Palette {
  std::vector<Colour> colours;
  std::vector<std::uint8_t> indices;
};

/// At most `limit` (1 to 256) colours for these pixels: exactly theirs where they have no more,
/// otherwise by cutting the colours in two at the mean where they scatter most (Wu 1991 in spirit),
/// again and again. A colour that most of a part has stays as it is, so that what is flat is exact.
/// The same pixels give the same palette.
Palette choose_palette(std::span<const Colour> pixels, int limit);

}  // namespace saccade
