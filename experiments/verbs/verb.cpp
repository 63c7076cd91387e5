#include "experiments/verbs/verb.h"

namespace saccade {

std::vector<Verb> verbs() {
  return {run_verb(),   eval_verb(),      record_verb(),  compare_verb(),
          bench_verb(), gradients_verb(), saliency_verb()};
}

}  // namespace saccade
