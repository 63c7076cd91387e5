#pragma once

#include <vector>

#include "agent/looking/look.h"
#include "env/environment.h"

namespace saccade {

/// A rectangle of cells that accumulates the finest patches of looks: each cell gets the weight of
/// the places whose patch covers it.
class PatchSum {
 public:
  /// The cells are pixels of a canvas of `canvas` pixels, or any other unit shared by both.
  PatchSum(const Box& box, int canvas_rows, int canvas_cols);

  /// Adds the patches of a look.
  void add(const Gaze& gaze);
  /// The sums so far (height, width).
  std::vector<float> total() const;

 private:
  Box box_;
  int canvas_rows_, canvas_cols_;
  // (height + 1, width + 1): differences at patch corners, whose running sums give the total.
  std::vector<float> corners_;
};

/// Returns how much of a digit's box the finest patches of the looks first .. first + count - 1 of
/// episode b have seen: a pixel seen by a look with weight w remains unseen with factor 1 - w. The
/// seen share of the box, mean over the digits.
double coverage(const SceneFacts& facts, Look& look, int first, int count, int b,
                CanvasSize canvas);

/// Size of the cell map of a canvas: at most kMaxMapSide on each side.
struct MapSize {
  int rows = 0;
  int cols = 0;
};
constexpr int kMaxMapSide = 60;
MapSize map_size(CanvasSize canvas);

}  // namespace saccade
