#include "agent/answering/answering.h"

#include <algorithm>
#include <stdexcept>

namespace saccade {

std::unique_ptr<const Answering> make_answering(const AgentConfig& config,
                                                const ObservationSpec& spec, int state_size,
                                                int steps, ParameterLayout& layout) {
  switch (spec.answer) {
    case AnswerKind::one_class:
      return make_class_answering(config, spec, state_size, steps, layout);
    case AnswerKind::sequence:
      return make_sequence_answering(config, spec, state_size, steps, layout);
    case AnswerKind::actions:
      return make_action_answering(config, spec, state_size, steps, layout);
  }
  throw std::logic_error("an AnswerKind that nobody answers");
}

void set_stop(AnswerTraits& traits, const std::optional<StopRule>& rule) {
  if (!rule) return;
  traits.stops = true;
  traits.stop_threshold = rule->threshold();
  traits.look_price = rule->price();
  traits.samples_stops = rule->kind().sampled;
}

}  // namespace saccade
