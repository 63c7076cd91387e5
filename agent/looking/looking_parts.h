#pragma once

#include <array>
#include <memory>

#include "agent/looking/glimpse_input.h"
#include "agent/looking/looking.h"
#include "attention/moves.h"

// Building blocks that several families of looking share.
namespace saccade {

/// The shape of the retina's glimpses.
GlimpseShape retina_shape(const ObservationSpec& spec);

/// The policy that learns; the others are controls.
constexpr const char* kLearnedPolicy = "hard_gaussian";

/// The traits common to all families that look through the retina T times.
LookTraits retina_traits(const AgentConfig& config, const ObservationSpec& spec);

/// Half the width and height of the retina's finest patch at zoom 1, in location units.
std::array<float, 2> half_sides(const ObservationSpec& spec);

/// How actions become locations (attention.glimpse.moves). Throws InputError naming the keys if a
/// patch leaves relative moves no room.
Moves moves_of(const GlimpseConfig& config, const ObservationSpec& spec);

/// Implements GlimpseKind::make.
template <class Family>
std::unique_ptr<const Looking> make(const AgentConfig& config, const ObservationSpec& spec,
                                    ParameterLayout& layout) {
  return std::make_unique<Family>(config, spec, layout);
}

}  // namespace saccade
