#pragma once

#include <memory>

#include "agent/answering/answer.h"
#include "agent/cores/core.h"
#include "agent/spec/config.h"
#include "agent/spec/sight.h"
#include "env/environment.h"
#include "nn/parameters.h"
#include "nn/work.h"

namespace saccade {

/// What others may ask of a way of answering. Nobody asks for its name.
struct AnswerTraits {
  int outputs = 0;          // S: that have logits and probabilities: one a glimpse, or a symbol
  int max_said = 1;         // numbers of an answer: J symbols, or T actions
  bool classifies = false;  // one class, which may be asked for after every glimpse
  bool spells = false;      // symbol by symbol up to an end mark, for which it may search
  bool acts = false;        // after every glimpse; no action is the right one
  bool attends = false;     // weighs the states h_1 .. h_T
  int hops = 1;             // distributions over the states that a read has
};

/// A way of answering: the parts that read the states and say what there is, and their parameters.
/// One implementation for each AnswerKind. Stateless: what belongs to episodes is in the Answer it
/// makes.
class Answering {
 public:
  virtual ~Answering() = default;

  const AnswerTraits& traits() const { return traits_; }

  /// For the episodes of one lane. Keeps references to both, and to the looking's `core`.
  virtual std::unique_ptr<Answer> make_answer(Environment& environment, CoreMemory& core) const = 0;

  /// Multiply-adds of an episode.
  virtual Work work() const = 0;

 protected:
  AnswerTraits traits_;
};

/// As the environment asks, `sight.answer`, from T = `steps` states (H = `state_size`). Throws
/// InputError naming the keys where the parts do not fit. `layout` must outlive it.
std::unique_ptr<const Answering> make_answering(const AgentConfig& config, const Sight& sight,
                                                int state_size, int steps, ParameterLayout& layout);

// The ways, each in a file of its own. A new one is a file and a line in answering.cpp.
std::unique_ptr<const Answering> make_class_answering(const AgentConfig& config, const Sight& sight,
                                                      int state_size, int steps,
                                                      ParameterLayout& layout);
std::unique_ptr<const Answering> make_sequence_answering(const AgentConfig& config,
                                                         const Sight& sight, int state_size,
                                                         int steps, ParameterLayout& layout);
std::unique_ptr<const Answering> make_action_answering(const AgentConfig& config,
                                                       const Sight& sight, int state_size,
                                                       int steps, ParameterLayout& layout);

}  // namespace saccade
