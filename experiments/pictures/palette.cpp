#include "experiments/pictures/palette.h"

#include <algorithm>
#include <array>

namespace saccade {
namespace {

using Channels = std::array<double, 3>;

std::uint32_t packed(Colour c) {
  return std::uint32_t{c.red} << 16 | std::uint32_t{c.green} << 8 | c.blue;
}
Colour unpacked(std::uint32_t bits) {
  return {static_cast<std::uint8_t>(bits >> 16), static_cast<std::uint8_t>(bits >> 8),
          static_cast<std::uint8_t>(bits)};
}
double channel(std::uint32_t bits, int which) { return bits >> (16 - 8 * which) & 255U; }

struct Count {
  std::uint32_t colour;
  int pixels;
};

std::vector<Count> count(std::span<const Colour> pixels) {
  std::vector<std::uint32_t> sorted(pixels.size());
  std::ranges::transform(pixels, sorted.begin(), packed);
  std::ranges::sort(sorted);
  std::vector<Count> counts;
  for (const std::uint32_t colour : sorted)
    if (counts.empty() || counts.back().colour != colour)
      counts.push_back({colour, 1});
    else
      ++counts.back().pixels;
  return counts;
}

// A subset of the colours and its scatter around the mean.
struct Part {
  explicit Part(std::span<Count> of) : counts(of) {
    Channels squares{};
    for (const Count& c : counts) {
      pixels += c.pixels;
      for (int i = 0; i < 3; ++i) {
        mean[i] += c.pixels * channel(c.colour, i);
        squares[i] += c.pixels * channel(c.colour, i) * channel(c.colour, i);
      }
    }
    for (int i = 0; i < 3; ++i) {
      mean[i] /= pixels;
      const double here = squares[i] - pixels * mean[i] * mean[i];
      if (here > spread) spread = here, axis = i;
    }
    if (counts.size() == 1) spread = 0.0;  // residue of rounding
  }

  // Splits into the colours at or below the mean and those above; neither is empty.
  std::array<Part, 2> halves() const {
    const auto above = std::partition(counts.begin(), counts.end(), [this](const Count& c) {
      return channel(c.colour, axis) <= mean[axis];
    });
    return {Part({counts.begin(), above}), Part({above, counts.end()})};
  }

  Colour colour() const {
    const auto most = std::ranges::max_element(counts, [](const Count& a, const Count& b) {
      return a.pixels != b.pixels ? a.pixels < b.pixels : a.colour > b.colour;
    });
    if (2.0 * most->pixels >= pixels) return unpacked(most->colour);
    const auto byte = [](double value) { return static_cast<std::uint8_t>(value + 0.5); };
    return {byte(mean[0]), byte(mean[1]), byte(mean[2])};
  }

  std::span<Count> counts;
  double pixels = 0.0;
  Channels mean{};
  double spread = 0.0;  // sum of squares along `axis`, the largest
  int axis = 0;
};

}  // namespace

Palette choose_palette(std::span<const Colour> pixels, int limit) {
  std::vector<Count> counts = count(pixels);
  std::vector<Part> parts;
  if (static_cast<int>(counts.size()) <= limit)
    for (Count& c : counts) parts.emplace_back(std::span(&c, 1));
  else
    parts.emplace_back(counts);
  while (static_cast<int>(parts.size()) < limit) {
    const auto widest = std::ranges::max_element(parts, {}, &Part::spread);
    if (parts.empty() || widest->spread <= 0.0) break;
    const auto [low, high] = widest->halves();
    *widest = low;
    parts.push_back(high);
  }

  Palette palette;
  std::vector<std::pair<std::uint32_t, std::uint8_t>> index;  // by colour
  for (const Part& part : parts) {
    for (const Count& c : part.counts)
      index.emplace_back(c.colour, static_cast<std::uint8_t>(palette.colours.size()));
    palette.colours.push_back(part.colour());
  }
  std::ranges::sort(index);
  palette.indices.reserve(pixels.size());
  for (const Colour c : pixels)
    palette.indices.push_back(
        std::ranges::lower_bound(index, packed(c), {}, &decltype(index)::value_type::first)
            ->second);
  return palette;
}

}  // namespace saccade
