#pragma once

#include <array>
#include <memory>
#include <optional>

#include "agent/cores/core.h"
#include "agent/looking/context_network.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/look.h"
#include "agent/spec/glimpse_config.h"
#include "attention/score.h"
#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// What places and sees the candidates of a grid, and how.
struct GridParts {
  Tensor<2> places;  // (G, 2)
  GlimpseParts glimpse;
  std::unique_ptr<const Score> addressing;
  std::optional<ContextNetwork> context;  // of addressing by location
  bool by_content = false;                // addressing reads the candidates' embeddings
  bool sees_all = false;                  // every candidate, not only what is chosen
  bool embeds = false;                    // every candidate passes the glimpse network
  bool expects_pixels = false;
  std::array<float, 2> half_sides;  // of the finest patch, in location units
  GlimpseConfig config;

  int first_learned() const { return config.first == "learned" ? 0 : 1; }
};

/// One candidate, sampled, by REINFORCE. Keeps references to all.
std::unique_ptr<Look> make_hard_grid_look(const GridParts& parts, Environment& environment,
                                          CoreMemory& core);
/// The expectation over all candidates, by backpropagation.
std::unique_ptr<Look> make_soft_grid_look(const GridParts& parts, Environment& environment,
                                          CoreMemory& core);

}  // namespace saccade
