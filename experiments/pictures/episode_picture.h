#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/task.h"

namespace saccade {

/// What pictures say in colour.
inline constexpr Colour kRightColour = {38, 150, 74};
inline constexpr Colour kWrongColour = {209, 46, 46};

/// Draws the episodes of one agent for a video: a panel with its name, the canvas with the look,
/// the scales as seen, the class probabilities after the look, the true class and, at the end, the
/// verdict in green or red.
class EpisodePicture {
 public:
  /// Keeps a reference to `task`.
  EpisodePicture(const Task& task, std::string name);

  int rows() const;
  int cols() const;
  /// After look t. `verdict`: at the end, with the answer.
  Picture panel(const Episode& episode, int t, bool verdict) const;

 private:
  int content_rows() const;
  int seen_side() const;
  int seen_rows() const;
  int num_bars() const;
  void draw_seen(Picture& panel, const Episode& episode, int t, Point corner) const;
  void draw_bars(Picture& panel, const Episode& episode, int t, bool verdict, Box area) const;
  void draw_caption(Picture& panel, const Episode& episode, int t, bool verdict, int top) const;

  const Task& task_;
  std::string name_;
  LookPicture look_;
};

/// Draws the episodes of one agent for a contact sheet: a row of a tile for each look under a
/// caption that says the verdict.
class EpisodeStrip {
 public:
  /// Keeps a reference to `task`.
  EpisodeStrip(const Task& task, std::string name);

  int rows() const;
  int cols() const;
  /// `scene`: its number, for people.
  Picture strip(const Episode& episode, int scene) const;

 private:
  const Task& task_;
  std::string name_;
  LookPicture look_;
  int seen_side_;
};

}  // namespace saccade
