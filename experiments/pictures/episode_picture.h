#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/colours.h"
#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/pictures/weight_table.h"
#include "experiments/task/task.h"

namespace saccade {

/// Draws the episodes of one agent for a video: a panel with its name, the canvas with the look,
/// the scales as seen, attention over the states, the class probabilities after the look (of a
/// sequence in their place the alignment), what was right and, at the end, the verdict in green or
/// red.
class EpisodePicture {
 public:
  /// Keeps a reference to `task`.
  EpisodePicture(const Task& task, std::string name, const Theme& theme = kLightTheme);

  int rows() const;
  int cols() const;
  /// After look t. `verdict`: at the end, with the answer.
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
  Colour verdict_colour(const Episode& episode) const;

  const Task& task_;
  std::string name_;
  Theme theme_;
  LookPicture look_;
};

/// What a sheet says above an episode, in so many pixels: its number for people, a name if not
/// empty, what was right and what was said. Where there is no room for all it has no name.
std::string episode_caption(const Task& task, const std::string& name, const Episode& episode,
                            int scene, int columns);

/// Draws the episodes of one agent for a contact sheet: a row of a tile for each look, its number
/// above, below it the scales with how much of the canvas they cover, and attention over the states
/// up to there, under a caption that says the verdict; at the end of a sequence a tile of the
/// alignment.
class EpisodeStrip {
 public:
  /// Keeps a reference to `task`.
  EpisodeStrip(const Task& task, std::string name);

  int rows() const;
  int cols() const;
  /// `scene`: its number, for people.
  Picture strip(const Episode& episode, int scene) const;

 private:
  bool ends_with_table() const { return task_.model.answer().spells; }
  int head_rows() const;
  int tile_rows() const;
  int tiles_cols() const;
  std::string step_heading(int t) const;
  void draw_tile(Picture& strip, const Episode& episode, int t) const;
  void draw_seen(Picture& strip, const Episode& episode, int t, Point corner) const;

  const Task& task_;
  std::string name_;
  LookPicture look_;
  int seen_side_;
  TableSize table_;  // of attention over states: under each tile, or of a sequence at the end
};

}  // namespace saccade
