#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// A mark and what it stands for.
struct LegendEntry {
  enum Mark {
    kFrame,  // an empty square
    kPath,   // two looks and the way between
    kHeat,   // a bar from the least to the most heat
    kWords,  // none: the words have the colour
  };

  Mark mark = kWords;
  Colour colour = {};  // not of kHeat
  std::string words;

  bool operator==(const LegendEntry&) const = default;
};

/// What there is to be read in a sheet of an agent's looks (EpisodeStrip).
std::vector<LegendEntry> sheet_legend(const Task& task);
/// Adds those that are not there yet.
void add_entries(std::vector<LegendEntry>& legend, const std::vector<LegendEntry>& more);

/// Rows of a legend in lines of at most `cols` pixels; longer words are cut. cols >= 100.
int legend_rows(const std::vector<LegendEntry>& legend, int cols);
void draw_legend(Picture& picture, const std::vector<LegendEntry>& legend, Point corner, int cols);

/// A bar of heat_colour, from 0 to 1, whose `share` is said at its ends and its middle: words[0] at
/// 0, words[1] at 1/2, words[2] at 1, below it. kHeatBarRows high.
inline constexpr int kHeatBarRows = 26;
void draw_heat_bar(Picture& picture, Box area, const std::vector<std::string>& words);

}  // namespace saccade
