#pragma once

#include <span>

#include "agent/answering/decoder.h"

namespace saccade {

/// The most probable sequences that a beam of `width` hypotheses an episode finds: of all
/// continuations the `width` best by the sum of log p are kept after each symbol, finished ones
/// among them (Sutskever et al. 2014, section 3.2). Writes said (B, J), end marks to the end.
/// states, lengths: as Decoder::begin. Allocates.
void beam_search(std::span<int> said, const Decoder& decoder, int symbols, int width,
                 ConstMatrix states, std::span<const int> lengths, int steps,
                 std::span<const float> parameters);

}  // namespace saccade
