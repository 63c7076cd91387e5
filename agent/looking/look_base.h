#pragma once

#include "agent/looking/look.h"

namespace saccade {

/// What all kinds of looking share: the tensors, and one pass of the glimpse network a step.
class LookBase : public Look {
 protected:
  /// `actions` is A; `seen` says whether one glimpse a step passes the glimpse network.
  LookBase(const Model& model, Environment& environment, CoreMemory& core, int actions, bool seen);

  /// Writes the core's feature(t) from glimpses(t) and locations(t).
  void feature_forward(int t, std::span<const float> parameters);
  /// Steps first .. first + count - 1: dfeatures (count B, F) becomes that before the activation.
  void activation_backward(Matrix dfeatures, int first, int count,
                           std::span<const float> parameters);
  /// After activation_backward of all steps; dfeatures (T B, F).
  void weight_backward(std::span<float> gradient, Matrix dfeatures, float beta);

  /// After activation_backward of all steps: writes dglimpses (T, B, D).
  void glimpse_backward(Tensor<3>& dglimpses, std::span<const float> parameters);
  /// The same, and adds to dcanvases what the retina saw of them at locations(t).
  void retina_backward(Matrix dcanvases, Tensor<3>& dglimpses, std::span<const float> parameters);

  int episodes() const { return core_.episodes(); }
  int steps() const { return core_.steps; }

  const Model& model_;
  Environment& environment_;
  CoreMemory& core_;
  Tensor<3> joint_;   // (T, B, what + where): inside the glimpse network
  Tensor<3> djoint_;  // (T, B, what + where)
};

// The families. A new one is one file and one line in look.cpp.
std::unique_ptr<Look> make_point_look(const Model&, Environment&, CoreMemory&);
std::unique_ptr<Look> make_grid_look(const Model&, Environment&, CoreMemory&);
std::unique_ptr<Look> make_window_look(const Model&, Environment&, CoreMemory&);
std::unique_ptr<Look> make_whole_look(const Model& model, Environment& environment,
                                      CoreMemory& core);
std::unique_ptr<Look> make_canvas_look(const Model&, Environment&, CoreMemory&);

}  // namespace saccade
