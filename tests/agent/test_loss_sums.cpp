#include "agent/learning/loss_sums.h"

#include <doctest/doctest.h>

namespace saccade {

TEST_CASE("loss sums add up term by term, and a note keeps every bit") {
  LossSums a, b;
  double value = 0.1;
  for (const LossTerm& term : loss_terms()) a.*term.sum = value *= 1.7, b.*term.sum = 100.0;
  CHECK(sizeof(LossSums) == loss_terms().size() * sizeof(double));  // no term is missing
  LossSums sum = a;
  sum += b;
  const LossSums again = loss_sums_of(to_note(a));
  for (const LossTerm& term : loss_terms()) {
    CAPTURE(term.name);
    CHECK(sum.*term.sum == a.*term.sum + 100.0);
    CHECK(again.*term.sum == a.*term.sum);
  }
  CHECK(a.loss() == a.classifier + a.reinforce + a.baseline + a.penalty);
}

TEST_CASE("a note has the loss sums in the order used since the first checkpoints") {
  CHECK(to_note({.episodes = 1,
                 .classifier = 2,
                 .reinforce = 3,
                 .baseline = 4,
                 .penalty = 5,
                 .entropy = 6,
                 .errors = 7,
                 .reward = 0.1}) == "1 2 3 4 5 6 7 0.1");
}

}  // namespace saccade
