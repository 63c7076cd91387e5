#pragma once

#include <span>

#include "agent/answering/decoder.h"

namespace saccade {

/// Finds the most probable sequences by beam search with `width` hypotheses per episode: after each
/// symbol, keeps the `width` continuations with the largest sum of log p, including finished ones
/// (Sutskever et al. 2014, section 3.2). Writes predictions (B, J), padded with end marks. states,
/// lengths: as in Decoder::begin. Allocates.
void beam_search(std::span<int> predictions, const Decoder& decoder, int symbols, int width,
                 ConstMatrix states, std::span<const int> lengths, int steps,
                 std::span<const float> parameters);

}  // namespace saccade
