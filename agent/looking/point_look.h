#pragma once

#include <array>
#include <memory>

#include "agent/cores/core.h"
#include "agent/looking/glimpse_network.h"
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
  GlimpseNetwork network;
  Locator locator;
  int first = -1;    // parameter (1, 2); -1 where the first glimpse is not learned
  int log_std = -1;  // parameter (1, 1); -1 where the deviation is not learned
  Policy policy;
  Policy first_policy;
  std::array<float, 2> half_sides;  // of the finest patch, in location units
};

/// One location a step: the Gaussian policy of Mnih et al. (2014), the controls, and the policy's
/// mean alone (soft_point). Keeps references to all.
std::unique_ptr<Look> make_point_look(const PointParts& parts, const ParameterLayout& layout,
                                      Environment& environment, CoreMemory& core);

}  // namespace saccade
