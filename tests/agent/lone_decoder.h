#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "agent/answering/decoder.h"
#include "agent/model/rollout.h"
#include "tests/agent/support.h"

namespace saccade {

/// The decoder of an agent by itself, with a copy of its parameters.
struct LoneDecoder {
  LoneDecoder(const Model& model, std::span<const float> all)
      : decoder(model.config().decoder, model.config().hidden, model.num_classes(),
                model.state_size(), model.num_glimpses(), layout),
        parameters(zeros<1>(layout.size())),
        symbols(model.spec().max_symbols) {
    for (const Parameter& p : layout.parameters())
      std::ranges::copy(values_of(all, find_parameter(model.layout(), p.name)),
                        values_of(flat(parameters), p).begin());
  }

  /// Says all J symbols of each episode of a rollout from its first lengths[b] states, after the
  /// true symbols (`forced`) or its own: writes memory.probabilities (J, B, V) and `said` (B, J).
  void say(Rollout& rollout, std::span<const int> lengths, bool forced) {
    const int episodes = rollout.episodes(), end = decoder.num_symbols() - 1;
    memory.emplace(decoder.make_memory(symbols, episodes));
    said.assign(episodes, {});
    std::vector<int> previous(episodes);
    decoder.begin(*memory, rollout.core.states(), lengths, flat(parameters));
    for (int j = 0; j < symbols; ++j) {
      decoder.step(*memory, j, previous, rollout.core.states(), flat(parameters));
      for (int b = 0; b < episodes; ++b) {
        const SceneFacts& facts = rollout.environment->facts()[b];
        const float* p = &memory->probabilities(j, b, 0);
        said[b].push_back(static_cast<int>(std::max_element(p, p + end + 1) - p));
        previous[b] = !forced ? said[b].back() : j < facts.num_symbols ? facts.symbols[j] : end;
      }
    }
  }
  /// What is said before the end mark.
  std::vector<int> before_end(int b) const {
    return {said[b].begin(), std::ranges::find(said[b], decoder.num_symbols() - 1)};
  }

  ParameterLayout layout;
  Decoder decoder;
  Tensor<1> parameters;
  int symbols;
  std::optional<DecoderMemory> memory;
  std::vector<std::vector<int>> said;
};

}  // namespace saccade
