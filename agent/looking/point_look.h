#pragma once

#include <array>
#include <memory>
#include <optional>

#include "agent/cores/core.h"
#include "agent/looking/context_network.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/location_estimator.h"
#include "agent/looking/locator.h"
#include "agent/looking/look.h"
#include "attention/moves.h"
#include "attention/policy.h"
#include "base/log_range.h"
#include "env/environment.h"

namespace saccade {

/// The parts that place and see one location per step.
struct PointParts {
  LocationEstimator estimator;  // none if it does not learn
  int first_learned;            // first glimpse whose place is learned; T if none
  GlimpseParts glimpse;
  Locator locator;
  std::optional<ContextNetwork> context;  // for the locator
  int first = -1;                         // parameter (1, L); -1 if the first glimpse has none
  int log_std = -1;                       // parameter (1, 1); -1 if the deviation is not learned
  float spread = 0.0F;                    // of the deterministic pass about the mean, in deviations
  bool always_spreads = false;            // in every pass, also of the training
  Policy policy;
  Policy first_policy;
  LogRange zoom;  // 1: none
  Moves moves;
  std::array<float, 2> half_sides;  // of the finest patch at zoom 1, in location units

  bool zooms() const { return !zoom.is_point(); }
  /// L: numbers of a location
  int location_size() const { return zooms() ? 3 : 2; }
  /// The first glimpse that the locator places: before the first glimpse there is no state, so only
  /// a context network can place it.
  int first_placed() const { return context && first_learned == 0 ? 0 : 1; }
};

/// One location per step, with a zoom as its third number if there is one: the Gaussian policy of
/// Mnih et al. (2014), the controls, and the policy's mean alone (soft_point). Keeps references to
/// all arguments.
std::unique_ptr<Look> make_point_look(const PointParts& parts, const ParameterLayout& layout,
                                      Environment& environment, CoreMemory& core);

}  // namespace saccade
