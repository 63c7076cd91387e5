#pragma once

#include <array>
#include <memory>
#include <optional>

#include "agent/cores/core.h"
#include "agent/looking/context_network.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/look.h"
#include "agent/spec/glimpse_config.h"
#include "attention/moves.h"
#include "attention/policy.h"
#include "attention/score.h"
#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// The parts that place and see the candidates of a grid, and their settings.
struct GridParts {
  Tensor<2> places;  // (G, 2): locations, or if moves are relative actions
  Moves moves;
  GlimpseParts glimpse;
  std::unique_ptr<const Score> addressing;
  std::optional<ContextNetwork> context;  // for addressing by location
  bool by_content = false;                // addressing reads the candidates' embeddings
  bool sees_all = false;                  // look at every candidate, not only at the chosen one
  bool embeds = false;                    // every candidate passes through the glimpse network
  bool expects_pixels = false;
  std::array<float, 2> half_sides;  // of the finest patch, in location units
  GlimpseConfig config;

  int first_learned() const { return first_is_learned(config.first) ? 0 : 1; }
};

/// Samples one candidate and learns by REINFORCE. Keeps references to all arguments.
std::unique_ptr<Look> make_hard_grid_look(const GridParts& parts, Environment& environment,
                                          CoreMemory& core);
/// Takes the expectation over all candidates and learns by backpropagation.
std::unique_ptr<Look> make_soft_grid_look(const GridParts& parts, Environment& environment,
                                          CoreMemory& core);

}  // namespace saccade
