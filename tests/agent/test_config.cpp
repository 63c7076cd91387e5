// Settings of an agent that have to fit each other.
#include "agent/model/check.h"

// Agent settings that must be consistent with each other.

#include <doctest/doctest.h>

#include <functional>

#include "agent/looking/looking.h"
#include "attention/score.h"
#include "base/error.h"
#include "tests/attention/score_names.h"
#include "tests/support.h"

namespace saccade {
namespace {

// Returns the error for the defaults after a change.
template <class Change>
std::string fault(const Change& change, AnswerKind answer = AnswerKind::one_class) {
  AgentConfig config;
  change(config);
  settle(config.glimpse);
  return message_of<InputError>([&] { check(config, answer); });
}

TEST_CASE("the default agent works with every kind of answer") {
  for (const AnswerKind answer : {AnswerKind::one_class, AnswerKind::sequence, AnswerKind::actions})
    CHECK(fault([](AgentConfig&) {}, answer) == "nothing thrown");
}

TEST_CASE("the settings of every part of an agent are checked") {
  CHECK(fault([](AgentConfig& c) {
          c.model.core = "attention";
          c.model.heads = 3;
        }).starts_with("model.heads: 3 does not divide model.hidden_size: 256; allowed: 1, 2, "));
  CHECK(fault([](AgentConfig& c) { c.model.heads = 3; }) == "nothing thrown");
  CHECK(fault([](AgentConfig& c) {
          c.glimpse.expect = "pixels";
        }).starts_with("attention.glimpse.expect: pixels has no effect"));
  CHECK(fault([](AgentConfig& c) {
          c.training.optimizer.final_learning_rate = 1.0;
        }).starts_with("training.final_learning_rate: 1 is above"));
}

TEST_CASE("a glimpse score that compares the state with features needs matching settings") {
  for (const std::string& score : score_kinds()) {
    CAPTURE(score);
    const auto content = [&](AgentConfig& c) {
      c.glimpse.kind = "soft_grid";
      c.glimpse.score = score;
      c.model.feature_size = 96;
    };
    CHECK(fault(content) ==
          (score_needs_equal_widths(score)
               ? "attention.glimpse.score: " + score +
                     " needs model.hidden_size: 256 and model.feature_size: 96 to be equal; "
                     "allowed where they are not: " +
                     scores_of_any_widths()
               : "nothing thrown"));
    CHECK(fault([&](AgentConfig& c) {
            content(c);
            c.glimpse.addressing = "location";
          }) == "nothing thrown");
  }
}

TEST_CASE("attention over inputs and states requires a recurrent core") {
  for (const std::string kind : {"mlp", "cnn"}) {
    CHECK(fault([&](AgentConfig& c) {
            c.model.kind = kind;
            c.input.kind = "gate";
          }) == "attention.input.kind: gate needs model.kind: recurrent, not " + kind);
    CHECK(fault([&](AgentConfig& c) {
            c.model.kind = kind;
            c.hidden.kind = "mean";
          }) == "attention.hidden.kind: mean has no states to read with model.kind: " + kind +
                    "; allowed: last");
  }
}

TEST_CASE("a context requires a learned locator and a static canvas") {
  const auto told = [](const auto& change, AnswerKind answer = AnswerKind::one_class) {
    return fault(
        [&](AgentConfig& c) {
          c.model.context = "thumbnail";
          change(c);
        },
        answer);
  };
  const std::string thumbnail = "model.context: thumbnail ";
  for (const std::string kind : {"mlp", "cnn"})
    CHECK(told([&](AgentConfig& c) { c.model.kind = kind; }) ==
          thumbnail + "needs model.kind: recurrent, not " + kind);
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    const bool learns = find_glimpse_kind(kind).learning != GlimpseKind::Learning::none;
    for (const std::string addressing : {"none", "location", "content"}) {
      if (addressing != "none" && !find_glimpse_kind(kind).has_candidates) continue;
      const bool by_content =
          addressing == "content" || (addressing == "none" && kind == "soft_grid");
      CHECK(told([&](AgentConfig& c) {
              c.glimpse.kind = kind;
              c.glimpse.addressing = addressing;
            }) == (!learns ? thumbnail + "has no effect with attention.glimpse.kind: " + kind +
                                 ", where no locator learns to look; allowed: none"
                   : by_content
                       ? thumbnail + "has no effect with attention.glimpse.addressing: content, "
                                     "which has no locator; allowed: location"
                       : "nothing thrown"));
    }
  }
  CHECK(told([](AgentConfig&) {}, AnswerKind::sequence) == "nothing thrown");
  CHECK(told([](AgentConfig&) {}, AnswerKind::actions) ==
        thumbnail + "is of a canvas that stands still, which actions move; allowed: none");
}

TEST_CASE("the read of the states must fit the kind of answer") {
  const auto reads = [](const std::string& kind, const std::string& score, AnswerKind answer) {
    return fault(
        [&](AgentConfig& c) {
          c.hidden.kind = kind;
          c.hidden.attend.score = score;
          c.decoder.hidden_size = 96;
        },
        answer);
  };
  CHECK(reads("attend", "location_free", AnswerKind::one_class)
            .starts_with("attention.hidden.query: last, but attention.hidden.score: location_free "
                         "takes none"));
  CHECK(reads("attend", "dot", AnswerKind::one_class) == "nothing thrown");
  CHECK(reads("attend", "location_free", AnswerKind::sequence) == "nothing thrown");
  CHECK(reads("attend", "dot", AnswerKind::sequence) ==
        "attention.hidden.score: dot needs decoder.hidden_size: 96 and model.hidden_size: 256 to "
        "be equal; allowed where they are not: " +
            scores_of_any_widths());
  std::vector<std::string> reads_of_a_state = hidden_kinds();
  std::erase_if(reads_of_a_state, std::not_fn(hidden_reads_a_state));
  CHECK(reads("self", "general", AnswerKind::one_class) == "nothing thrown");
  CHECK(reads("self", "general", AnswerKind::sequence) ==
        "attention.hidden.kind: self reads once and cannot say a sequence; allowed: " +
            join(reads_of_a_state));
  for (const std::string kind : {"mean", "attend", "self"})
    CHECK(reads(kind, "general", AnswerKind::actions) ==
          "attention.hidden.kind: " + kind +
              " has no effect on actions, which read the state of their step; allowed: last");
}

TEST_CASE("learning requires lanes, rollouts and an entropy that are consistent") {
  CHECK(fault([](AgentConfig& c) { c.training.batch_size = 100; }) ==
        "training.batch_size: 100 is not a multiple of training.lane_size: 64");
  CHECK(fault([](AgentConfig& c) { c.reinforce.rollouts = 3; }) ==
        "training.lane_size: 64 is not a multiple of reinforce.rollouts: 3");
  CHECK(fault([](AgentConfig& c) { c.reinforce.advantage = "leave_one_out"; }) ==
        "reinforce.advantage: leave_one_out needs reinforce.rollouts > 1, not 1");
  CHECK(fault([](AgentConfig& c) { c.reinforce.entropy = 0.1; }) ==
        "reinforce.entropy: 0.1 has no effect without attention.glimpse.learn_std: the entropy of "
        "a given std is constant");
  CHECK(fault([](AgentConfig& c) {
          c.reinforce.entropy = 0.1;
          c.glimpse.learn_std = true;
        }) == "nothing thrown");
}

TEST_CASE("only a Gaussian supports pathwise gradients") {
  for (const std::string estimator : {"pathwise", "both"}) {
    for (const std::string& kind : glimpse_kinds()) {
      CAPTURE(kind);
      CHECK(fault([&](AgentConfig& c) {
              c.glimpse.kind = kind;
              c.reinforce.estimator = estimator;
            }) == (kind == "hard_gaussian"
                       ? "nothing thrown"
                       : "reinforce.estimator: " + estimator +
                             " has no effect with attention.glimpse.kind: " + kind +
                             ", which draws no location that the loss could be derived by; "
                             "allowed: score"));
    }
    CHECK(fault([&](AgentConfig& c) {
            c.model.kind = "cnn";
            c.reinforce.estimator = estimator;
          }) == "reinforce.estimator: " + estimator + " needs model.kind: recurrent, not cnn");
  }
  CHECK(fault([](AgentConfig& c) { c.reinforce.estimator = "path"; }) ==
        "unknown reinforce.estimator 'path'; allowed: score, pathwise, both");
}

}  // namespace
}  // namespace saccade
