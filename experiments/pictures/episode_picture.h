#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/colours.h"
#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/pictures/weight_table.h"

namespace saccade {

/// Draws the episodes of one agent for a video: a panel with its name, the canvas with the look,
/// the scales as seen, attention over the states, the class probabilities after the look (for a
/// sequence the alignment instead), the label and, at the end, the verdict in green or red.
class EpisodePicture {
 public:
  /// Keeps a reference to the world of `agent`.
  EpisodePicture(const PicturedAgent& agent, std::string name);

  int rows() const;
  int cols() const;
  /// Draws the panel after look t. `verdict`: at the end, with the answer.
  Picture panel(const Episode& episode, int t, bool verdict) const;

 private:
  int content_rows() const;
  int seen_side() const;
  int seen_rows() const;
  int num_bars() const;
  int state_rows() const;
  int answer_rows() const;
  void draw_seen(Picture& panel, const Episode& episode, int t, Point corner) const;
  void draw_states(Picture& panel, const Episode& episode, int t, Box area) const;
  void draw_bars(Picture& panel, const Episode& episode, int t, bool verdict, Box area) const;
  void draw_caption(Picture& panel, const Episode& episode, int t, bool verdict, int top) const;

  const PicturedAgent agent_;
  std::string name_;
  LookPicture look_;
};

/// Returns the caption of an episode in a sheet, fitted to a width in pixels: its number for
/// display, the name unless empty, the label and the prediction. The name is dropped if there is no
/// room.
std::string episode_caption(const PicturedAgent& agent, const std::string& name,
                            const Episode& episode, int scene, int columns);

/// Returns the side of a scale as fits under its image, `width` pixels wide: "24 px", "24" or
/// nothing, since the legend has it, too.
std::string side_that_fits(const std::string& side, int width);

/// Draws the episodes of one agent for a contact sheet: a row with a tile for each look, its number
/// above; below it the scales with their extent on the canvas, and attention over the states so
/// far; all under a caption with the verdict. A sequence ends with a tile of the alignment.
class EpisodeStrip {
 public:
  /// Keeps a reference to the world of `agent`.
  EpisodeStrip(const PicturedAgent& agent, std::string name);

  int rows() const;
  int cols() const;
  /// `scene`: its number, for display.
  Picture strip(const Episode& episode, int scene) const;

 private:
  bool ends_with_table() const { return agent_.answer.spells; }
  int head_rows() const;
  int tile_rows() const;
  int tiles_cols() const;
  std::string step_heading(int t) const;
  void draw_tile(Picture& strip, const Episode& episode, int t) const;
  void draw_seen(Picture& strip, const Episode& episode, int t, Point corner) const;

  const PicturedAgent agent_;
  std::string name_;
  LookPicture look_;
  int seen_side_;
  TableSize table_;  // attention over states: under each tile, or for a sequence at the end
};

}  // namespace saccade
