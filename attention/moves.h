#pragma once

#include <array>
#include <string>
#include <vector>

#include "nn/tensor.h"

namespace saccade {

/// The names of attention.glimpse.moves: `absolute`, `relative`.
std::vector<std::string> move_kinds();
/// Whether an action is a step from the last location: `relative`. Throws InputError for another
/// name.
bool moves_by_steps(const std::string& moves);

/// How the action of a look becomes a location: that of a point, or a candidate of grid_moves.
///
/// `absolute`: the action is the location, clamped to the canvas, l_t = clamp(a_t, -1, 1).
///
/// `relative`: the action says where to go from here, as in the image environments of ap_gym
/// (version 0.7.1), whose moves these are:
///   l_t = clamp(l_{t-1} + max_step p(a_t), -reach, reach), p(a) = a / max(1, |a|),
///   l_0 = reach clamp(a_0, -1, 1).
/// So no step is longer than max_step, and the finest patch stays on the canvas (at zoom 1: the
/// third number of a look with a zoom is not moved, but chosen anew, clamped to [-1, 1]).
struct Moves {
  bool relative = false;
  float max_step = 0.2F;                      // half canvases
  std::array<float, 2> reach = {1.0F, 1.0F};  // largest |x| and |y| of a location
};

/// Relative moves of a patch with these half sides (x, y), in location units.
Moves relative_moves(float max_step, std::array<float, 2> half_sides);

/// locations (B, L) that actions (B, L) lead to from `from` (B, L), which has no data at the first
/// look. NaN becomes the smallest location. locations may be actions.
void move_forward(Matrix locations, ConstMatrix actions, ConstMatrix from, const Moves& moves);

/// Turns dlocations (B, L) into the gradient of the actions. For relative moves it also overwrites
/// dfrom (B, 2) with the gradient of the place `from`. Both are 0 where the location was clamped.
void move_backward(Matrix dlocations, Matrix dfrom, ConstMatrix actions, ConstMatrix from,
                   const Moves& moves);

/// Turns places (B, L) into the actions that lead there from `from`, as far as one step goes.
void lead_to(Matrix places, ConstMatrix from, const Moves& moves);

}  // namespace saccade
