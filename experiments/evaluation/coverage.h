#pragma once

#include <vector>

#include "agent/looking/look.h"
#include "env/environment.h"
#include "env/scene.h"

namespace saccade {

/// A rectangle of cells over which the finest patches of looks are laid: a cell gets the weight of
/// the places whose patch covers it.
class PatchSum {
 public:
  /// The cells are pixels of a canvas of `canvas` pixels, or whatever unit both are given in.
  PatchSum(const Box& box, int canvas_rows, int canvas_cols);

  /// Adds the patches of a look.
  void add(const Gaze& gaze);
  /// The sums so far (height, width).
  std::vector<float> total() const;

 private:
  Box box_;
  int canvas_rows_, canvas_cols_;
  // (height + 1, width + 1): at the corners of the overlaps, so that the running sums are the
  // total.
  std::vector<float> corners_;
};

/// How much of a digit's box the finest patches of the looks first .. first + count - 1 of episode
/// b have seen: a pixel that a look sees with weight w stays unseen with 1 - w. The share of the
/// box that was seen, mean over the digits.
double coverage(const SceneFacts& facts, Look& look, int first, int count, int b,
                CanvasSize canvas);

/// Size of a map of a canvas that is drawn in cells: at most kMaxMapSide a side.
struct MapSize {
  int rows = 0;
  int cols = 0;
};
constexpr int kMaxMapSide = 60;
MapSize map_size(CanvasSize canvas);

}  // namespace saccade
