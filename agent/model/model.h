#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "agent/answering/answering.h"
#include "agent/cores/core.h"
#include "agent/credit/critic.h"
#include "agent/looking/looking.h"
#include "agent/spec/config.h"
#include "agent/spec/observation_spec.h"
#include "attention/gate.h"
#include "nn/parameters.h"
#include "nn/work.h"

namespace saccade {

/// The recurrent attention model: its parts and the layout of their parameters. Stateless.
class Model {
 public:
  /// Throws InputError naming the keys if the parts do not fit together.
  Model(const AgentConfig& config, const ObservationSpec& spec);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// The settled configuration.
  const AgentConfig& config() const { return config_; }
  const ObservationSpec& spec() const { return spec_; }
  const ParameterLayout& layout() const { return layout_; }
  const LookTraits& look() const { return looking->traits(); }
  const AnswerTraits& answer() const { return answering->traits(); }

  int num_classes() const { return spec_.num_classes; }  // C
  CanvasSize canvas() const { return spec_.canvas; }
  /// How the networks scale pixels.
  const PixelScale& pixels() const { return spec_.pixels; }
  int num_glimpses() const { return look().steps; }  // T
  /// H: width of the core's state.
  int state_size() const;
  /// The first step with a decision that REINFORCE learns: a location or an action, or before which
  /// it learns not to stop. T if there is none.
  int first_decision() const;
  /// Whether a critic is trained, for advantages that read it.
  bool learns_baseline() const;

  /// Multiply-adds of a training episode.
  Work work() const;
  /// Multiply-adds of an episode of T looks that is only played.
  std::int64_t play_work() const;
  /// Multiply-adds x 2 of a training episode, forward and backward, in 10^9.
  double gflop_per_episode() const;

 private:
  const AgentConfig config_;
  const ObservationSpec spec_;
  ParameterLayout layout_;

 public:
  const std::unique_ptr<const Looking> looking;
  const std::optional<const InputGate> gate;  // attention.input
  const std::unique_ptr<const Core> core;
  const std::unique_ptr<const Answering> answering;
  const std::optional<const Critic> baseline;  // if something may learn by REINFORCE
};

}  // namespace saccade
