#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/spec/glimpse_config.h"
#include "attention/gate.h"
#include "attention/hidden.h"
#include "base/own_settings.h"
#include "env/environment.h"
#include "nn/optimizer.h"

namespace saccade {

/// Keys: model.*
struct ModelConfig {
  std::string kind = "recurrent";       // a name of model_kinds()
  std::string core = "rnn";             // a name of core_kinds()
  int hidden_size = 256;                // H
  int heads = 4;                        // core attention: divides H
  int depth = 1;                        // core attention: its layers
  std::string glimpse_network = "mlp";  // a name of glimpse_networks()
  int glimpse_filters = 16;             // conv: of each scale; residual: of the first stage
  int glimpse_kernel = 5;               // conv: side, pixels; at most that of the glimpse
  int glimpse_stride = 2;               // conv: pixels
  int glimpse_stages = 2;               // residual: each but the first halves the resolution
  int glimpse_blocks = 1;               // residual: of each stage
  int glimpse_hidden = 128;             // width of the `what` path
  int location_hidden = 128;            // width of the `where` path
  int feature_size = 256;               // F: width of the glimpse feature g_t
  int locator_hidden = 128;             // width of the locator's hidden layer
  std::string context = "none";         // what the locator is told of the canvas: one of contexts()
  int context_size = 16;                // thumbnail: its side, pixels
  int context_hidden = 64;              // thumbnail: width of the hidden layer that reads it

  // mlp and cnn, which see the whole canvas at once and have no core
  int canvas_hidden = 256;                 // mlp: width of its hidden layer
  std::array<int, 2> channels = {16, 32};  // cnn: of its two layers
  int kernel_size = 5;                     // cnn: side, pixels
};

/// Keys: decoder.*
struct DecoderConfig {
  std::string core = "gru";  // a name of recurrent_core_kinds()
  int hidden_size = 256;     // width of its state s_j
};

/// Keys: reinforce.*
struct ReinforceConfig {
  int rollouts = 1;                   // M: episodes that share a scene
  std::string estimator = "score";    // hard_gaussian: a name of location_estimators()
  std::string advantage = "learned";  // a name of advantage_estimators()
  std::string critic = "linear";      // a name of critic_kinds()
  int critic_hidden = 128;            // width of the hidden layer of critics that have one
  std::string reward = "correct";     // a name of reward_kinds()
  OwnValues own = {};                 // reinforce.<reward>.*, of registered rewards
  double weight = 1.0;                // of the REINFORCE term of the looks, >= 0
  double entropy = 0.0;               // of the policy's entropy bonus, >= 0
  double baseline_weight = 1.0;       // of the baseline's regression, >= 0
  bool shared_baseline = false;       // its gradient reaches the core as well
  double constant = 0.5;              // the baseline of advantage `constant`
  double ema_decay = 0.9;             // of advantage `ema`, in [0, 1)
  double trace = 1.0;                 // lambda of reward `gain` and of advantage `gae`, in [0, 1]
  double discount = 1.0;              // actions: of a reward, a step later, in [0, 1]
  double action_entropy = 0.0;        // actions: of their policy's entropy bonus, >= 0
};

/// Keys: training.* (with those of OptimizerConfig)
struct TrainingConfig {
  std::int64_t episodes = 36'000'000;  // in all; rounded up to whole batches
  int batch_size = 256;                // B: episodes in an update, a multiple of lane_size
  int lane_size = 64;                  // episodes that one thread takes at a time
  OptimizerConfig optimizer;
  double locator_factor = 1.0;      // factor on the learning rate of locator.<..>, > 0
  double baseline_factor = 1.0;     // of baseline.<..>, > 0
  std::vector<std::string> freeze;  // beginnings of parameter names, as "core", that never change
  double classifier_weight = 1.0;   // of the cross-entropy at the last step, >= 0
  double step_loss = 0.0;           // of the mean cross-entropy of the earlier steps, >= 0
};

/// The number of updates of a whole training.
inline std::int64_t total_updates(const TrainingConfig& training) {
  return (training.episodes + training.batch_size - 1) / training.batch_size;
}

/// Everything that defines an agent and its learning.
struct AgentConfig {
  ModelConfig model;
  GlimpseConfig glimpse;
  InputConfig input;
  HiddenConfig hidden;
  DecoderConfig decoder;
  ReinforceConfig reinforce;
  TrainingConfig training;
};

}  // namespace saccade
