#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/model/rollout.h"
#include "experiments/pictures/picture.h"
#include "experiments/task/task.h"

namespace saccade {

/// One episode of a rollout that was played with classify_every_step and filmed.
struct Episode {
  Rollout& rollout;
  const Tensor<3>& canvases;  // (T, B, pixels): RolloutRequest::canvases
  int b = 0;                  // in the rollout
  bool judged = true;         // the truth is told; else there is no right and wrong

  std::span<const int> truth() const { return rollout.answer->truth(b); }
  std::span<const int> said() const { return rollout.answer->said(b); }
  bool right() const { return rollout.answer->error(b) == 0.0F; }
  /// (channels, rows, cols) at look t, values in [0, 1]
  std::span<const float> canvas(int t) const {
    return {&canvases(t, b, 0), static_cast<std::size_t>(canvases.shape()[2])};
  }
};

/// Of the path of the looks, and of what frames a part that is read.
inline constexpr Colour kPathColour = {64, 222, 255};

/// The longer side of a canvas that has the mean side of a square of `side` pixels.
int tile_side(const CanvasSize& canvas, int side);

/// Draws where an agent looks and what it sees there. Points and a grid of which one is chosen: the
/// squares of all scales, the finest the thickest. Grids that are read softly: the weights as a
/// heat map. A window: its frame and, as heat, the places its filters part. All: the path of the
/// looks so far (of their expected places). Models that see the whole canvas have none of this;
/// those that read it part by part have the part of the step framed, and a gate on what is read
/// lies over it as heat.
class LookPicture {
 public:
  /// Canvases are drawn by the largest whole factor that leaves the longer side within `side`
  /// pixels, and smaller than they are only where they would be more than twice that. Keeps a
  /// reference to `task`.
  LookPicture(const Task& task, int side);

  int rows() const { return rows_; }  // of a drawn canvas
  int cols() const { return cols_; }

  /// The canvas at look t with the path up to it; `numbered`: with the numbers of the looks.
  Picture canvas(const Episode& episode, int t, bool numbered) const;
  /// The canvas at look t, as light as `light` in [0, 1] says, under heat (rows, cols) in [0, 1],
  /// without the looks.
  Picture heated(const Episode& episode, int t, const std::vector<double>& heat,
                 double light) const;
  /// The scales of look t as the agent sees them, the finest first, each square fit into `side`
  /// pixels; none of a model that sees the canvas. What is seen of many places at once is made as
  /// light as it goes.
  std::vector<Picture> seen(const Episode& episode, int t, int side) const;
  /// How many those are.
  int num_seen() const;

  /// The colour of a scale's square, here and around what is seen.
  static Colour scale_colour(int scale);
  /// "24 px": how many canvas pixels a scale of the retina covers, along a side.
  static std::string scale_side(const Task& task, int scale);

 private:
  Picture scaled(const Picture& small) const;
  std::vector<double> gate_heat(const Episode& episode, int t) const;
  void draw_part(Picture& picture, const CanvasReading& reading, int t) const;
  std::array<double, 2> place(const Episode& episode, int t) const;
  Point drawn(std::array<double, 2> place) const;
  void draw_squares(Picture& picture, std::array<double, 2> centre) const;
  void draw_window(Picture& picture, const Gaze& gaze) const;
  void draw_path(Picture& picture, const Episode& episode, int t, bool numbered) const;

  const Task& task_;
  int zoom_, shrink_;  // one of them is 1
  int rows_, cols_;
  int stroke_;  // of a thin line
};

/// Enlarged or made smaller by the least whole factor with which its longer side is within `side`
/// pixels; enlarged as far as that goes.
Picture fit_into(const Picture& picture, int side);

/// Planes (channels, rows, cols), 1 or 3 channels, values in [0, 1]; what lies outside is clamped.
Picture picture_of(std::span<const float> planes, int channels, int rows, int cols);

}  // namespace saccade
