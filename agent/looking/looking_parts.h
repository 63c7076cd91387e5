#pragma once

#include <array>
#include <memory>

#include "agent/looking/glimpse_input.h"
#include "agent/looking/looking.h"

// What several families of looking are built from.
namespace saccade {

/// What the retina returns.
GlimpseShape retina_shape(const Sight& sight);

/// The name of the policy that is learned; the others are controls.
constexpr const char* kLearnedPolicy = "hard_gaussian";

/// The traits that all families share which look through the retina, T times.
LookTraits retina_traits(const AgentConfig& config, const Sight& sight);

/// Half the width and height of the retina's finest patch, in location units.
std::array<float, 2> half_sides(const Sight& sight);

/// For GlimpseKind::make.
template <class Family>
std::unique_ptr<const Looking> make(const AgentConfig& config, const Sight& sight,
                                    ParameterLayout& layout) {
  return std::make_unique<Family>(config, sight, layout);
}

}  // namespace saccade
