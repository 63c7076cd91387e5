#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/evaluation/saliency_arrays.h"
#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/pictures/weight_table.h"

namespace saccade {

/// Draws an episode of a saliency sheet: a tile of where it looked (if a look has many places, the
/// mean of all looks as heat), one of |d logit / d canvas| for each logit, and |d logit / d g_t| as
/// a table beside that of attention over the states. Each logit is scaled to its own maximum; on
/// the canvas the heat is the square root of the fraction. draw_scales() explains this below all
/// episodes.
class SaliencyPicture {
 public:
  /// Keeps a reference to the world of `agent`. `outputs` is O.
  SaliencyPicture(const PicturedAgent& agent, int outputs);

  int rows() const;
  int cols() const;
  /// Scene n. `step`: selects the attention over the states, for a class.
  Picture picture(const Episode& episode, const SaliencyArrays& arrays, int n, int step) const;

  /// Colour bars with their labels, for the end of the sheet.
  int scales_rows() const;
  void draw_scales(Picture& sheet, Point corner) const;

 private:
  struct Scale {
    std::string of;
    std::vector<std::string> words;
  };

  std::vector<Scale> scales() const;
  Picture looks(const Episode& episode) const;
  Picture canvas_saliency(const Episode& episode, std::span<const float> gradient) const;
  WeightTable step_table(const Episode& episode, const SaliencyArrays& arrays, int n) const;
  void draw_tables(Picture& picture, const Episode& episode, const SaliencyArrays& arrays, int n,
                   int step) const;

  const PicturedAgent agent_;
  int outputs_;
  LookPicture look_;
  TableSize steps_, states_;  // of the two tables; 0 if not drawn
};

}  // namespace saccade
