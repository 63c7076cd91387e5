#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"

namespace saccade {

/// A mark and its explanation.
struct LegendEntry {
  enum Mark {
    kFrame,  // an empty square
    kPath,   // two looks joined by a line
    kHeat,   // a bar of the heat colours, low to high
    kWords,  // none: the text has the colour
  };

  Mark mark = kWords;
  Colour colour = {};  // unused for kHeat
  std::string words;

  bool operator==(const LegendEntry&) const = default;
};

/// The legend of a sheet of an agent's looks (EpisodeStrip).
std::vector<LegendEntry> sheet_legend(const PicturedAgent& agent);
/// Adds the entries that are missing.
void add_entries(std::vector<LegendEntry>& legend, const std::vector<LegendEntry>& more);

/// Returns the height of a legend in lines of at most `cols` pixels; longer text is cut. cols >=
/// 100.
int legend_rows(const std::vector<LegendEntry>& legend, int cols);
void draw_legend(Picture& picture, const std::vector<LegendEntry>& legend, Point corner, int cols);

/// A bar of heat_colour from 0 to 1 with labels below it: words[0] at 0, words[1] at 1/2, words[2]
/// at 1. kHeatBarRows high.
inline constexpr int kHeatBarRows = 26;
void draw_heat_bar(Picture& picture, Box area, const std::vector<std::string>& words);

}  // namespace saccade
