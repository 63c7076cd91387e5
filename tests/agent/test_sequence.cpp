// Agents that predict a sequence: the gradients of the decoder and of what it reads, the rewards of
// looks, and the end of a sequence.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "agent/credit/reward.h"
#include "agent/learning/learner.h"
#include "base/error.h"
#include "tests/agent/lone_decoder.h"
#include "tests/agent/slopes.h"
#include "tests/agent/tasks.h"
#include "tests/support.h"

namespace saccade {
namespace {

AgentConfig reader_config(const std::string& core) {
  AgentConfig config = busy_config(core);
  config.glimpse.kind = "whole";
  config.decoder = {.core = "gru", .hidden_size = 5};
  return config;
}

AgentConfig transcriber_config(const std::string& reward) {
  AgentConfig config = busy_config("lstm");
  config.glimpse.num_glimpses = 4;
  config.reinforce.reward = reward;
  config.hidden.kind = "attend";
  config.hidden.attend.score_hidden = 6;
  config.decoder = {.core = "rnn", .hidden_size = 5};
  return config;
}

std::vector<std::pair<std::string, HiddenConfig>> every_context() {
  std::vector<std::pair<std::string, HiddenConfig>> all = {{"last", {.kind = "last"}},
                                                           {"mean", {.kind = "mean"}}};
  for (const std::string& score : score_kinds())
    for (const std::string& area : attention_areas())
      for (const std::string& position : attention_positions()) {
        if (area == "global" && position != "current") continue;
        if (position == "predicted" && !score_needs_query(score)) continue;
        all.push_back({score + ", " + area + ", " + position,
                       {.kind = "attend",
                        .attend = {.score = score,
                                   .score_hidden = 6,
                                   .area = area,
                                   .position = position,
                                   .window = 1}}});
      }
  return all;
}

// The lengths that occur in the lane's episodes, of texts or of answers.
template <class Length>
std::set<int> lengths_of(const Task& task, int rollouts, Length&& length) {
  const auto environment = task.environments(kEpisodes, rollouts);
  environment->reset(kFirstScene);
  std::set<int> all;
  for (const SceneFacts& facts : environment->facts()) all.insert(length(facts));
  return all;
}

TEST_CASE("sequence agents: the gradient is the slope for every decoder and context") {
  const Task task = words_task();
  for (const auto length : {&SceneFacts::length, &SceneFacts::num_symbols})
    CHECK(lengths_of(task, 2, [&](const SceneFacts& facts) { return facts.*length; }).size() > 1);
  const Names encoders = core_kinds();
  std::size_t now = 0;
  for (const std::string& decoder : recurrent_core_kinds())
    for (const auto& [name, hidden] : every_context()) {
      AgentConfig config = reader_config(encoders[now++ % encoders.size()]);
      config.decoder.core = decoder;
      config.hidden = hidden;
      CAPTURE(decoder);
      CAPTURE(name);
      CAPTURE(config.model.core);
      check_slopes(config, task.spec, task.environments);
    }
}

TEST_CASE("sequence agents: the gradient is the slope with a gate or a mask") {
  const Task task = words_task();
  AgentConfig config = reader_config("gru");
  config.hidden = {.kind = "attend", .attend = {.score_hidden = 6}};
  config.input = {.kind = "gate", .learn_alpha = true, .gain = 8.0};
  check_slopes(config, task.spec, task.environments);
  const Task longer = words_task(299);
  for (const char* kind : {"mean", "attend"}) {
    CAPTURE(kind);
    config = reader_config("rnn");
    config.hidden = {.kind = kind, .attend = {.score_hidden = 6}, .mask = "101"};
    check_slopes(config, longer.spec, longer.environments);
  }
}

TEST_CASE("sequence agents: a decoder without any state to read reports it") {
  const Task task = words_task();
  AgentConfig config = reader_config("rnn");
  config.hidden = {.kind = "attend", .mask = "01"};
  CHECK(message_of<InputError>([&] { Played(config, task.spec, task.environments); }) ==
        "attention.hidden.mask: '01' allows none of the 1 states of an episode; allowed with "
        "attention.hidden.kind: attend: at least one of the shortest's");
}

TEST_CASE("sequence agents: a mask needs a digit for every state") {
  const Task task = words_task(299);
  for (const char* kind : {"mean", "attend"})
    for (const char* mask : {"1", "11", "1x1", "1111", "000"}) {
      CAPTURE(kind);
      AgentConfig config = reader_config("rnn");
      config.hidden = {.kind = kind, .mask = mask};
      CHECK(contains(message_of<InputError>([&] { Played(config, task.spec, task.environments); }),
                     fmt::format("attention.hidden.mask: '{}'; allowed: 3 digits", mask)));
    }
}

TEST_CASE("sequence agents: each look is credited with the symbols it got right") {
  const Task task = transcribe_task();
  CHECK(lengths_of(task, 2, [](const SceneFacts& f) { return f.num_symbols; }).size() > 1);
  for (const std::string& reward : judged_rewards())
    for (const std::string& advantage : advantage_estimators()) {
      // All rollouts of a scene give the same answer, wherever they look.
      if (reward == "correct" && advantage == "leave_one_out") continue;
      CAPTURE(reward);
      CAPTURE(advantage);
      AgentConfig config = transcriber_config(reward);
      set_credit(config, advantage, reward);
      check_slopes(config, task.spec, task.environments);
    }
  AgentConfig config = transcriber_config("probability");
  for (const char* kind : {"hard_categorical", "soft_grid", "soft_gaussian"}) {
    CAPTURE(kind);
    config.glimpse.kind = kind;
    check_slopes(config, task.spec, task.environments);
  }
}

// An agent with random weights that plays the first episodes of a task.
struct Speaker {
  Speaker(const AgentConfig& config, const Task& task, int episodes)
      : model(config, task.spec),
        parameters(zeros<1>(model.layout().size())),
        rollout(model, task.environments(episodes, 1)) {
    randomize(flat(parameters), model.layout(), 0.8F, 5);
  }

  void run(SamplingMode sampling, int beam = 1) {
    rollout.run(flat(parameters), {.first_scene = kFirstScene, .sampling = sampling, .beam = beam});
  }
  std::vector<int> predictions(int b) const {
    const std::span<const int> symbols = rollout.answer->predictions(b);
    return {symbols.begin(), symbols.end()};
  }
  std::vector<int> labels(int b) const {
    const std::span<const int> symbols = rollout.answer->labels(b);
    return {symbols.begin(), symbols.end()};
  }

  Model model;
  Tensor<1> parameters;
  Rollout rollout;
};

TEST_CASE(
    "sequence agents: without teacher forcing the decoder continues from its own predictions") {
  const Task task = words_task();
  for (const char* kind : {"last", "attend"}) {
    CAPTURE(kind);
    AgentConfig config = reader_config("gru");
    config.hidden.kind = kind;
    Speaker speaker(config, task, kEpisodes);
    speaker.run(SamplingMode::deterministic);
    Rollout& rollout = speaker.rollout;
    std::vector<int> lengths;
    for (const SceneFacts& facts : rollout.environment->facts()) lengths.push_back(facts.length);
    LoneDecoder lone(speaker.model, flat(speaker.parameters));
    lone.say(rollout, lengths, /*forced=*/false);
    CHECK(rollout.answer->probabilities == lone.memory->probabilities);
    int differs = 0;  // from predictions after the true symbols
    for (int b = 0; b < kEpisodes; ++b) {
      CHECK(speaker.predictions(b) == lone.before_end(b));
      const SceneFacts& facts = rollout.environment->facts()[b];
      for (int j = 0; j + 1 < facts.num_symbols; ++j)
        differs += lone.said[b][j] != facts.symbols[j] ? 1 : 0;
    }
    CHECK(differs > 0);
  }
}

TEST_CASE("sequence agents: symbols after an end mark are neither output nor counted") {
  // Trained until most symbols are right; predictions after the end are never trained.
  const Task task = words_task();
  AgentConfig config = reader_config("gru");
  config.model.hidden_size = 24;
  config.decoder.hidden_size = 24;
  config.hidden.kind = "attend";
  config.training.episodes = 32 * 400;
  const Model model(config, task.spec);
  Workers workers(1);
  Learner learner(model, task.environments, 1, workers);
  while (learner.updates() < learner.total_updates()) learner.step();

  Speaker speaker(config, task, 64);
  speaker.parameters = learner.parameters;
  for (const int beam : {1, 3}) {
    CAPTURE(beam);
    speaker.run(SamplingMode::deterministic, beam);
    int right = 0, shorter = 0;
    for (int b = 0; b < 64; ++b) {
      const std::vector<int> said = speaker.predictions(b);
      CHECK(std::ranges::count(said, task.spec.num_classes - 1) == 0);
      CHECK(speaker.rollout.answer->rewards[b] == (said == speaker.labels(b) ? 1.0F : 0.0F));
      CHECK(speaker.rollout.answer->error(b) == 1.0F - speaker.rollout.answer->rewards[b]);
      right += said == speaker.labels(b) ? 1 : 0;
      shorter += said.size() + 1 < static_cast<std::size_t>(task.spec.max_symbols) ? 1 : 0;
    }
    CHECK(right > 55);
    CHECK(shorter > 10);
  }
}

}  // namespace
}  // namespace saccade
