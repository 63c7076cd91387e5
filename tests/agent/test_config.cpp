// Settings of an agent that have to fit each other.
#include "agent/model/check.h"

// Agent settings that must be consistent with each other.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>

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
          c.training.optimizer.final_learning_rate = 1.0;
        }).starts_with("training.final_learning_rate: 1 is above"));
}

TEST_CASE("relative moves are of kinds that look at one place") {
  for (const std::string& kind : glimpse_kinds()) {
    CAPTURE(kind);
    const bool many = kind == "soft_grid" || kind == "soft_gaussian";
    CHECK(fault([&](AgentConfig& c) {
            c.glimpse.kind = kind;
            c.glimpse.moves = "relative";
          }) == (many ? "attention.glimpse.moves: relative with attention.glimpse.kind: " + kind +
                            ", which looks at many places at once; allowed: absolute, or a kind "
                            "that looks at one place"
                      : "nothing thrown"));
  }
}

TEST_CASE("relative moves choose among an odd number of steps, by the state alone") {
  const auto with_steps = [](std::array<int, 2> cells, const std::string& addressing) {
    return fault([&](AgentConfig& c) {
      c.glimpse.kind = "hard_categorical";
      c.glimpse.moves = "relative";
      c.glimpse.grid.cells = cells;
      c.glimpse.addressing = addressing;
    });
  };
  CHECK(with_steps({3, 1}, "location") == "nothing thrown");
  CHECK(with_steps({3, 3}, "content") ==
        "attention.glimpse.moves: relative with attention.glimpse.addressing: content, which sees "
        "all candidates before the first look; allowed: absolute, or addressing: location");
  for (const std::array<int, 2> cells : {std::array{2, 3}, {3, 4}})
    CHECK(with_steps(cells, "none") ==
          fmt::format("attention.glimpse.grid: [{}, {}] has no middle, which stays in place with "
                      "attention.glimpse.moves: relative; allowed: odd numbers",
                      cells[0], cells[1]));
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

TEST_CASE("a learned std starts from a single number") {
  const auto ramp = [](AgentConfig& c) { c.glimpse.std = {0.3, 0.1, 1.0}; };
  CHECK(fault(ramp) == "nothing thrown");
  CHECK(fault([&](AgentConfig& c) {
          ramp(c);
          c.glimpse.learn_std = true;
        }) ==
        "attention.glimpse.learn_std needs one number to begin with as attention.glimpse.std, not "
        "a ramp from 0.3 to 0.1");
}

TEST_CASE("a context requires a static canvas") {
  const auto context = [](AgentConfig& c) { c.model.context = "thumbnail"; };
  CHECK(fault(context, AnswerKind::sequence) == "nothing thrown");
  CHECK(fault(context, AnswerKind::actions) ==
        "model.context: thumbnail is of a canvas that stands still, which actions move; allowed: "
        "none");
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
  Names reads_of_a_state = hidden_kinds();
  std::erase_if(reads_of_a_state, std::not_fn(hidden_reads_a_state));
  CHECK(reads("self", "general", AnswerKind::one_class) == "nothing thrown");
  CHECK(reads("self", "general", AnswerKind::sequence) ==
        "attention.hidden.kind: self reads once and cannot say a sequence; allowed: " +
            join(reads_of_a_state));
}

TEST_CASE("learning requires lanes, rollouts and an estimator that are consistent") {
  CHECK(fault([](AgentConfig& c) { c.training.batch_size = 100; }) ==
        "training.batch_size: 100 is not a multiple of training.lane_size: 64");
  CHECK(fault([](AgentConfig& c) { c.reinforce.rollouts = 3; }) ==
        "training.lane_size: 64 is not a multiple of reinforce.rollouts: 3");
  CHECK(fault([](AgentConfig& c) { c.reinforce.advantage = "leave_one_out"; }) ==
        "reinforce.advantage: leave_one_out needs reinforce.rollouts > 1, not 1");
  CHECK(fault([](AgentConfig& c) { c.reinforce.estimator = "path"; }) ==
        "unknown reinforce.estimator 'path'; allowed: score, pathwise, both");
}

}  // namespace
}  // namespace saccade
