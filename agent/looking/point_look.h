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
#include "attention/policy.h"
#include "env/environment.h"

namespace saccade {

/// What places and sees one location a step.
struct PointParts {
  LocationEstimator estimator;  // of nothing where it does not learn
  int first_learned;            // the first glimpse that something learns to place; T if none
  GlimpseParts glimpse;
  Locator locator;
  std::optional<ContextNetwork> context;  // of the locator
  int first = -1;       // parameter (1, 2); -1 where none places the first glimpse
  int log_std = -1;     // parameter (1, 1); -1 where the deviation is not learned
  float spread = 0.0F;  // of the deterministic pass about the mean, in deviations
  Policy policy;
  Policy first_policy;
  std::array<float, 2> half_sides;  // of the finest patch, in location units

  /// The first glimpse that the locator places: there is no state before the first one, and nothing
  /// to place it by but a context.
  int first_placed() const { return context && first_learned == 0 ? 0 : 1; }
};

/// One location a step: the Gaussian policy of Mnih et al. (2014), the controls, and the policy's
/// mean alone (soft_point). Keeps references to all.
std::unique_ptr<Look> make_point_look(const PointParts& parts, const ParameterLayout& layout,
                                      Environment& environment, CoreMemory& core);

}  // namespace saccade
