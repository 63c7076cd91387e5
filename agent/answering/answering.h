#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "agent/answering/answer.h"
#include "agent/answering/stopping.h"
#include "agent/cores/core.h"
#include "agent/spec/config.h"
#include "agent/spec/observation_spec.h"
#include "env/environment.h"
#include "nn/parameters.h"
#include "nn/work.h"

namespace saccade {

/// Properties of a way of answering, which other code queries instead of its name.
struct AnswerTraits {
  int outputs = 0;              // S: outputs with logits: one per glimpse or per symbol
  int answer_size = 1;          // size of an answer: J symbols, or T actions
  bool stops = false;           // may answer before the last look: see stopping.h
  double stop_threshold = 0.0;  // of what sureness() gives, from which it then stops, in (0, 1)
  double look_price = 0.0;      // what a look after the first costs one that learns when to stop
  bool samples_stops = false;   // and learns when by REINFORCE
  bool classifies = false;      // one class, which can be read after every glimpse
  bool spells = false;          // symbol by symbol up to an end mark, possibly with beam search
  bool acts = false;            // an action after every glimpse; actions have no labels
  bool attends = false;         // attends over the states h_1 .. h_T
  int hops = 1;                 // number of distributions over the states in a read
};

/// Sets what `traits` tell of a stop.
void set_stop(AnswerTraits& traits, const std::optional<StopRule>& rule);

/// A way of answering: the parts that turn states into answers, and their parameters. One
/// implementation per AnswerKind. Stateless: per-episode data lives in the Answer it makes.
class Answering {
 public:
  virtual ~Answering() = default;

  const AnswerTraits& traits() const { return traits_; }

  /// Makes the workspace of one lane. Keeps references to this object and to both arguments; `core`
  /// is the one that the look writes.
  virtual std::unique_ptr<Answer> make_answer(Environment& environment, CoreMemory& core) const = 0;

  /// Multiply-adds of a training episode.
  virtual Work work() const = 0;
  /// Multiply-adds of the answers of an episode of T looks that is only played.
  virtual std::int64_t play_work() const { return work().forward; }

 protected:
  AnswerTraits traits_;
};

/// Makes the answering that the observation spec asks for (`spec.answer`), from T = `steps` states
/// of width H = `state_size`. Throws InputError naming the keys if the parts do not fit together.
/// `layout` must outlive it.
std::unique_ptr<const Answering> make_answering(const AgentConfig& config,
                                                const ObservationSpec& spec, int state_size,
                                                int steps, ParameterLayout& layout);

// The implementations, one file each. A new one is a file and a line in answering.cpp.
std::unique_ptr<const Answering> make_class_answering(const AgentConfig& config,
                                                      const ObservationSpec& spec, int state_size,
                                                      int steps, ParameterLayout& layout);
std::unique_ptr<const Answering> make_sequence_answering(const AgentConfig& config,
                                                         const ObservationSpec& spec,
                                                         int state_size, int steps,
                                                         ParameterLayout& layout);
std::unique_ptr<const Answering> make_action_answering(const AgentConfig& config,
                                                       const ObservationSpec& spec, int state_size,
                                                       int steps, ParameterLayout& layout);

}  // namespace saccade
