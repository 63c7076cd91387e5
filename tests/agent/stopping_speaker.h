#pragma once

#include <string>
#include <vector>

#include "tests/agent/lone_decoder.h"
#include "tests/agent/stopping_player.h"

namespace saccade {

/// An agent that answers a sequence and may stop early.
inline AgentConfig stopping_speaker(const std::string& stop) {
  AgentConfig config = stopping_config(stop, "gru");
  config.hidden = {.kind = "attend", .attend = {.score_hidden = 6}};
  config.decoder = {.core = "rnn", .hidden_size = 5};
  config.training.step_loss = 0.0;  // so that nobody asks after every look of a training
  return config;
}

/// One decoder for each number of looks, after it has said what these showed.
inline std::vector<LoneDecoder> decoders_after_each(StoppingPlayer& player, bool forced) {
  std::vector<LoneDecoder> all;
  all.reserve(player.steps());
  for (int t = 0; t < player.steps(); ++t) {
    all.emplace_back(player.model, flat(player.parameters));
    all.back().say(player.rollout, std::vector(player.rollout.episodes(), t + 1), forced);
  }
  return all;
}

}  // namespace saccade
