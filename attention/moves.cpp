#include "attention/moves.h"

#include <algorithm>
#include <cmath>

#include "attention/policy.h"
#include "base/name_table.h"

namespace saccade {
namespace {

// NaN becomes -most.
float clamped(float value, float most) {
  return value >= most ? most : value > -most ? value : -most;
}

// 1 / max(1, |a|).
float projection(const float* action) {
  return 1.0F / std::max(1.0F, std::hypot(action[0], action[1]));
}

// Whether an action is a step.
const NameTable<bool>& move_table() {
  static const NameTable<bool> table{"attention.glimpse.moves",
                                     {{"absolute", false}, {"relative", true}}};
  return table;
}

}  // namespace

std::vector<std::string> move_kinds() { return move_table().names(); }
bool moves_by_steps(const std::string& moves) { return move_table().at(moves); }

Moves relative_moves(float max_step, std::array<float, 2> half_sides) {
  return {.relative = true,
          .max_step = max_step,
          .reach = {std::max(0.0F, 1.0F - half_sides[0]), std::max(0.0F, 1.0F - half_sides[1])}};
}

void move_forward(Matrix locations, ConstMatrix actions, ConstMatrix from, const Moves& moves) {
  if (!moves.relative) return clamp_to_canvas(locations, actions);
  const int others = actions.cols - 2;  // a zoom
  clamp_to_canvas(locations.columns(2, others), actions.columns(2, others));
  const bool first = from.data == nullptr;
  for (int b = 0; b < actions.rows; ++b) {
    const float scale = first ? 1.0F : moves.max_step * projection(actions.row(b));
    for (int axis = 0; axis < 2; ++axis) {
      const float reach = moves.reach[axis], action = actions(b, axis);
      locations(b, axis) =
          first ? reach * clamped(action, 1.0F) : clamped(from(b, axis) + scale * action, reach);
    }
  }
}

void move_backward(Matrix dlocations, Matrix dfrom, ConstMatrix actions, ConstMatrix from,
                   const Moves& moves) {
  if (!moves.relative) return clamp_backward(dlocations, actions);
  if (from.data == nullptr) {
    clamp_backward(dlocations, actions);
    for (int b = 0; b < actions.rows; ++b)
      for (int axis = 0; axis < 2; ++axis) dlocations(b, axis) *= moves.reach[axis];
    return;
  }
  const int others = actions.cols - 2;
  clamp_backward(dlocations.columns(2, others), actions.columns(2, others));
  for (int b = 0; b < actions.rows; ++b) {
    const float* action = actions.row(b);
    const float shrink = projection(action);
    float along = 0.0F;  // of the gradient, in the direction of a projected action
    for (int axis = 0; axis < 2; ++axis) {
      float& d = dlocations(b, axis);
      const float place = from(b, axis) + moves.max_step * shrink * action[axis];
      if (std::abs(place) > moves.reach[axis]) d = 0.0F;
      dfrom(b, axis) = d;
      d *= moves.max_step * shrink;
      along += d * action[axis] * shrink;
    }
    if (shrink == 1.0F) continue;
    for (int axis = 0; axis < 2; ++axis) dlocations(b, axis) -= along * action[axis] * shrink;
  }
}

void lead_to(Matrix places, ConstMatrix from, const Moves& moves) {
  for (int b = 0; b < places.rows; ++b)
    for (int axis = 0; axis < 2; ++axis) {
      float& place = places(b, axis);
      if (from.data != nullptr)
        place = (place - from(b, axis)) / moves.max_step;
      else if (moves.reach[axis] > 0.0F)
        place /= moves.reach[axis];
    }
}

}  // namespace saccade
