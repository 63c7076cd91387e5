#include "agent/answering/answer.h"

namespace saccade {

void choose_logits(Matrix dlogits, std::span<const int> chosen) {
  for (int b = 0; b < dlogits.rows; ++b) {
    std::fill_n(dlogits.row(b), dlogits.cols, 0.0F);
    if (chosen[b] >= 0) dlogits(b, chosen[b]) = 1.0F;
  }
}

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
