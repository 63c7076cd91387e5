#pragma once

#include <string>
#include <vector>

#include "experiments/pictures/look_picture.h"
#include "experiments/pictures/picture.h"
#include "experiments/pictures/weight_table.h"

namespace saccade {

/// Gradients of O logits of an episode with respect to the observations.
struct SceneSaliency {
  std::vector<int> chosen = {};                 // (O): the class, symbol or action; -1: none
  std::vector<float> logits = {};               // (O)
  std::vector<std::vector<float>> canvas = {};  // (O, pixels): d logit / d canvas
  std::vector<std::vector<double>> steps = {};  // (O, T): |d logit / d g_t|
};

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
  /// `step`: selects the attention over the states, for a class; `scene`: its number, for display.
  Picture picture(const Episode& episode, const SceneSaliency& saliency, int step, int scene) const;

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
  Picture canvas_saliency(const Episode& episode, const std::vector<float>& gradient) const;
  WeightTable step_table(const Episode& episode, const SceneSaliency& saliency) const;
  void draw_tables(Picture& picture, const Episode& episode, const SceneSaliency& saliency,
                   int step) const;

  const PicturedAgent agent_;
  int outputs_;
  LookPicture look_;
  TableSize steps_, states_;  // of the two tables; 0 if not drawn
};

}  // namespace saccade
