// When an agent that answers a sequence stops looking, what it then says, and which agents can.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "agent/answering/beam_search.h"
#include "agent/model/check.h"
#include "base/error.h"
#include "tests/agent/stopping_speaker.h"
#include "tests/support.h"

namespace saccade {
namespace {

// The probability of the sequence that a decoder said, with its end mark.
double probability_of(const LoneDecoder& lone, int b) {
  double product = 1.0;
  const auto length = static_cast<int>(lone.before_end(b).size());
  for (int j = 0; j < std::min(length + 1, lone.symbols); ++j)
    product *= lone.memory->probabilities(j, b, lone.said[b][j]);
  return product;
}

std::vector<int> answer_of(const Rollout& rollout, int b) {
  const std::span<const int> symbols = rollout.answer->predictions(b);
  return {symbols.begin(), symbols.end()};
}

Tensor<2> rewards_of(const Rollout& rollout) {
  Tensor<2> rewards = zeros<2>(rollout.core.steps, rollout.episodes());
  rollout.answer->step_rewards(matrix(rewards));
  return rewards;
}

// ---- When it stops, and what it then says ----

TEST_CASE("sequence agents: confidence stops where the whole sequence is probable enough") {
  AgentConfig config = stopping_speaker("confidence");
  std::set<int> looks;
  for (const double threshold : {0.02, 0.1, 0.3, 0.6}) {
    config.glimpse.stop_threshold = threshold;
    StoppingPlayer player(config, kEpisodes, 1, transcribe_task());
    for (const SamplingMode sampling : {SamplingMode::deterministic, SamplingMode::sample}) {
      player.play({.sampling = sampling});
      const std::vector<LoneDecoder> after = decoders_after_each(player, false);
      for (int b = 0; b < kEpisodes; ++b) {
        int stop = 1;
        while (stop < player.steps() && probability_of(after[stop - 1], b) <= threshold) ++stop;
        CHECK(player.rollout.stopped_at(b) == stop);
        CHECK(answer_of(player.rollout, b) == after[stop - 1].before_end(b));
        looks.insert(stop);
        for (int t = 0; t < player.steps(); ++t)
          CHECK(player.rollout.answer->sureness(t, b) ==
                doctest::Approx(probability_of(after[t], b)));
      }
    }
  }
  CHECK(looks.size() == 3);
}

TEST_CASE("sequence agents: confidence is trained like an agent that never stops, bit for bit") {
  const Task task = transcribe_task();
  for (const std::string& reward : judged_rewards()) {
    AgentConfig with = stopping_speaker("confidence"), without = stopping_speaker("none");
    with.reinforce.reward = without.reinforce.reward = reward;
    const Played stopping(with, task.spec, task.environments);
    const Played resting(without, task.spec, task.environments);
    CHECK(stopping.gradient == resting.gradient);
    CHECK(stopping.sums.loss() == resting.sums.loss());
    CHECK(stopping.lane.rollout().answer->probabilities ==
          resting.lane.rollout().answer->probabilities);
  }
}

TEST_CASE("sequence agents: learned stops read the state alone and say what was seen so far") {
  for (const std::string& stop : learned_stops())
    for (const double threshold : {0.3, 0.6, 0.9}) {
      CAPTURE(stop);
      AgentConfig config = stopping_speaker(stop);
      config.glimpse.stop_threshold = threshold;
      StoppingPlayer player(config, kEpisodes, 1, transcribe_task());
      CHECK_THROWS(find_parameter(player.model.layout(), "stop.sureness"));
      player.play({.sampling = SamplingMode::deterministic});
      const std::vector<LoneDecoder> after = decoders_after_each(player, false);
      for (int b = 0; b < kEpisodes; ++b) {
        const int looks = player.looks_at_quantile(b, threshold);
        CHECK(player.rollout.stopped_at(b) == looks);
        CHECK(answer_of(player.rollout, b) == after[looks - 1].before_end(b));
        for (int t = 0; t < player.steps(); ++t) {
          const std::span<const int> label = player.rollout.answer->labels(b);
          const bool right = after[t].before_end(b) == std::vector(label.begin(), label.end());
          CHECK(player.rollout.answer->right(t, b) == right);
        }
      }
    }
}

TEST_CASE("sequence agents: a stop does not depend on who asks after every look") {
  for (const std::string& stop : stop_kinds()) {
    CAPTURE(stop);
    AgentConfig config = stopping_speaker(stop);
    config.glimpse.stop_threshold = 0.3;
    StoppingPlayer asked(config, kEpisodes, 1, transcribe_task());
    Rollout alone(asked.model, transcribe_task().environments(kEpisodes, 1));
    for (const SamplingMode sampling :
         {SamplingMode::deterministic, SamplingMode::sample, SamplingMode::training}) {
      asked.play({.seed = 3, .sampling = sampling});
      alone.run(flat(asked.parameters), {.seed = 3, .sampling = sampling});
      CHECK(asked.rollout.answer->probabilities == alone.answer->probabilities);
      if (sampling == SamplingMode::training) CHECK(rewards_of(asked.rollout) == rewards_of(alone));
      for (int b = 0; b < kEpisodes; ++b) {
        CHECK(asked.rollout.stopped_at(b) == alone.stopped_at(b));
        CHECK(answer_of(asked.rollout, b) == answer_of(alone, b));
      }
    }
  }
}

TEST_CASE("sequence agents: a beam search reads what was seen up to the stop") {
  AgentConfig config = stopping_speaker("sampled");
  config.glimpse.stop_threshold = 0.3;
  StoppingPlayer player(config, kEpisodes, 1, transcribe_task());
  player.play({.sampling = SamplingMode::deterministic, .beam = 3});
  std::vector<int> looks;
  for (int b = 0; b < kEpisodes; ++b) looks.push_back(player.rollout.stopped_at(b));
  CHECK(std::ranges::min(looks) < player.steps());
  const LoneDecoder lone(player.model, flat(player.parameters));
  std::vector<int> found(kEpisodes * lone.symbols);
  beam_search(found, lone.decoder, lone.symbols, 3, player.rollout.core.states(), looks,
              player.steps(), flat(lone.parameters));
  for (int b = 0; b < kEpisodes; ++b) {
    const std::vector<int> said = answer_of(player.rollout, b);
    CHECK(std::equal(said.begin(), said.end(), found.begin() + b * lone.symbols));
  }
}

// ---- Where it cannot be ----

TEST_CASE("sequence agents: a mask that hides the first state is refused with a stop") {
  AgentConfig config = stopping_speaker("confidence");
  config.hidden.mask = "011";
  const auto message = [&] {
    return message_of<SettingError>([&] { check(config, AnswerKind::sequence); });
  };
  CHECK(message() ==
        "attention.glimpse.stop: confidence reads what is said after the first glimpse, of which "
        "attention.hidden.mask: 011 allows nothing");
  config.glimpse.stop = "none";
  CHECK_NOTHROW(check(config, AnswerKind::sequence));
  config.glimpse.stop = "sampled";
  config.hidden.mask = "101";
  CHECK_NOTHROW(check(config, AnswerKind::sequence));
  config.glimpse.num_glimpses = 1;
  CHECK(message() ==
        "attention.glimpse.stop: sampled needs attention.glimpse.num_glimpses > 1, not 1");
}

TEST_CASE("sequence agents: one that never stops costs and says what it did without the setting") {
  const Task task = transcribe_task();
  const Model none(stopping_speaker("none"), task.spec);
  CHECK_FALSE(none.answer().stops);
  CHECK(none.play_work() == none.work().forward);
  const Model confidence(stopping_speaker("confidence"), task.spec);
  const Model sampled(stopping_speaker("sampled"), task.spec);
  const Model expected(stopping_speaker("expected"), task.spec);
  // Training decodes once, except for an expected stop; playing once, except for confidence.
  const std::int64_t decoding = none.answering->work().forward;
  CHECK(confidence.work().forward == none.work().forward);
  CHECK(confidence.play_work() == none.work().forward + 2 * decoding);
  const std::int64_t head = 2 * none.state_size();
  CHECK(sampled.answering->work().forward == decoding + head);
  CHECK(expected.answering->work().forward == 3 * decoding + head);
  CHECK(expected.answering->play_work() == decoding + head);
}

}  // namespace
}  // namespace saccade
