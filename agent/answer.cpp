#include "agent/answer.h"

namespace saccade {

std::unique_ptr<Answer> make_answer(const Model& model, Environment& environment,
                                    CoreMemory& core) {
  switch (environment.answer_kind()) {
    case AnswerKind::sequence:
      return make_sequence_answer(model, environment, core);
    case AnswerKind::actions:
      return make_action_answer(model, environment, core);
    default:
      return make_class_answer(model, environment, core);
  }
}

}  // namespace saccade
