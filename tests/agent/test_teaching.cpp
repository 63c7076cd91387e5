// Teachers: what they believe, and how a lane learns from it.
#include "agent/learning/teaching.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "nn/layers.h"
#include "tests/agent/slopes.h"
#include "tests/agent/tasks.h"

namespace saccade {
namespace {

// An untrained agent whose answers differ between scenes.
struct Taught {
  explicit Taught(const AgentConfig& config, std::uint32_t seed)
      : model(config, kTinySpec), weights(zeros<1>(model.layout().size())) {
    randomize(flat(weights), model.layout(), 0.5F, seed);
  }
  Teacher teacher() const { return {model, flat(weights), tiny_environment}; }

  Model model;
  Tensor<1> weights;
};

// Two that look in different ways.
struct TwoTeachers {
  Taught recurrent{[] {
                     AgentConfig config = tiny_config("gru");
                     config.glimpse.num_glimpses = 2;
                     config.glimpse.first = "learned";
                     return config;
                   }(),
                   21};
  Taught whole{[] {
                 AgentConfig config = tiny_config();
                 config.model.kind = "mlp";
                 return config;
               }(),
               22};
  std::vector<Teacher> all() const { return {recurrent.teacher(), whole.teacher()}; }
};

const RolloutRequest kSeen{.first_scene = 5, .seed = 3, .update = 1, .progress = 0.2};

// The pass of a teacher over these scenes.
RolloutRequest deterministic() {
  return {.first_scene = 5, .seed = 3, .update = 1, .sampling = SamplingMode::deterministic};
}

// (B, C): the answers of a teacher alone.
Tensor<2> beliefs_of(const Teacher& teacher, int episodes, int rollouts) {
  Rollout alone(teacher.model, teacher.environments(episodes, rollouts));
  alone.run(teacher.weights, deterministic());
  Tensor<2> beliefs = zeros<2>(episodes, kTinyClasses);
  copy_rows(matrix(beliefs), step(alone.answer->probabilities, teacher.model.num_glimpses() - 1));
  return beliefs;
}

TEST_CASE("beliefs are the mean of what the teachers answer in a deterministic pass") {
  const TwoTeachers two;
  const Model learner(tiny_config(), kTinySpec);
  const std::vector<Teacher> teachers = two.all();
  Teaching teaching(teachers, learner, 6, 2);
  const ConstMatrix beliefs = teaching.beliefs(kSeen);
  REQUIRE(beliefs.rows == 6);
  REQUIRE(beliefs.cols == kTinyClasses);
  const Tensor<2> one = beliefs_of(teachers[0], 6, 2), other = beliefs_of(teachers[1], 6, 2);
  for (int b = 0; b < 6; ++b) {
    double sum = 0.0;
    for (int c = 0; c < kTinyClasses; ++c) {
      CHECK(beliefs(b, c) == doctest::Approx((one(b, c) + other(b, c)) / 2));
      sum += beliefs(b, c);
    }
    CHECK(sum == doctest::Approx(1.0));
  }
  CHECK(beliefs(0, 0) == beliefs(1, 0));        // the same scene
  CHECK_FALSE(beliefs(0, 0) == beliefs(2, 0));  // another one
}

TEST_CASE("a teacher that stops early answers with what it believed then") {
  AgentConfig config = tiny_config();
  config.glimpse.stop = "confidence";
  config.glimpse.stop_threshold = 0.4;  // of three classes
  const Taught stopping(config, 23);
  const Model learner(tiny_config(), kTinySpec);
  const std::vector<Teacher> teachers = {stopping.teacher()};
  Teaching teaching(teachers, learner, 8, 1);
  const ConstMatrix beliefs = teaching.beliefs(kSeen);
  Rollout alone(stopping.model, tiny_environment(8, 1));
  alone.run(flat(stopping.weights), deterministic());
  int early = 0;
  for (int b = 0; b < 8; ++b) {
    early += alone.stopped_at(b) < 3 ? 1 : 0;
    for (int c = 0; c < kTinyClasses; ++c)
      CHECK(beliefs(b, c) == alone.answer->probabilities(alone.stopped_at(b) - 1, b, c));
  }
  CHECK(early > 0);
}

TEST_CASE("the gradient of a taught lane is the slope of its loss, of agents that stop too") {
  const TwoTeachers two;
  const std::vector<Teacher> teachers = two.all();
  for (const std::string& stop : stop_kinds()) {
    CAPTURE(stop);
    AgentConfig config = busy_config("gru");
    config.reinforce.weight = config.reinforce.entropy = config.reinforce.baseline_weight = 0.0;
    config.glimpse.stop = stop;
    config.glimpse.stop_threshold = stop == "confidence" ? 0.5 : 0.0;
    config.training.teacher_share = 0.7;
    if (find_stop_kind(stop).sampled) continue;  // its gradient is no slope
    Played played(config, kTinySpec, tiny_environment, teachers);
    const Tensor<3> actions = played.lane.rollout().look->actions;
    check_slopes_of(
        played, &actions, [](const LossSums& sums) { return sums.classifier + sums.penalty; },
        [](const std::string&) { return true; });
  }
}

TEST_CASE("the loss is the cross-entropy with the label and the belief, by their shares") {
  const TwoTeachers two;
  const std::vector<Teacher> teachers = two.all();
  AgentConfig config = busy_config("rnn");
  const auto loss = [&](double share) {
    config.training.teacher_share = share;
    return Played(config, kTinySpec, tiny_environment, teachers).sums.classifier;
  };
  const double label = Played(config).sums.classifier;
  CHECK(loss(0.0) == doctest::Approx(label));
  CHECK(loss(0.25) == doctest::Approx(0.75 * label + 0.25 * loss(1.0)));

  // Of the belief alone: - sum_c q_c log p_c, weighted as that of the label.
  config.training.teacher_share = 1.0;
  config.training.step_loss = 0.0;
  Played played(config, kTinySpec, tiny_environment, teachers);
  Teaching teaching(teachers, played.model, kEpisodes, config.reinforce.rollouts);
  const ConstMatrix q = teaching.beliefs({.first_scene = kFirstScene, .seed = 11, .update = 2});
  const Rollout& rollout = played.lane.rollout();
  double expected = 0.0;
  for (int b = 0; b < kEpisodes; ++b)
    for (int c = 0; c < kTinyClasses; ++c)
      expected -= q(b, c) * std::log(static_cast<double>(
                                rollout.answer->probabilities(rollout.core.steps - 1, b, c)));
  CHECK(played.sums.classifier ==
        doctest::Approx(config.training.classifier_weight * expected).epsilon(1e-5));
}

std::string learn(const AgentConfig& config, int threads, const std::vector<Teacher>& teachers) {
  const Model model(config, kTinySpec);
  Workers workers(threads);
  Learner learner(model, tiny_environment, 4, workers, alone(), nullptr, teachers);
  for (int n = 0; n < 10; ++n) learner.step();
  return state_of(learner);
}

TEST_CASE("a taught learner has the same bits for any number of threads") {
  const TwoTeachers two;
  AgentConfig config = tiny_config("lstm");
  config.reinforce.rollouts = 2;
  config.training.step_loss = 0.3;
  const std::string one = learn(config, 1, two.all());
  for (const int threads : {2, 4}) CHECK((learn(config, threads, two.all()) == one));
  CHECK_FALSE((learn(config, 1, {}) == one));
  CHECK_FALSE((learn(config, 1, {two.whole.teacher()}) == one));
  config.training.teacher_share = 0.0;
  CHECK((learn(config, 1, two.all()) == learn(config, 1, {})));
}

TEST_CASE("a teacher with other answers is refused") {
  const TwoTeachers two;
  const std::vector<Teacher> teachers = two.all();
  ObservationSpec more = kTinySpec;
  more.num_classes = 5;
  const Model other(tiny_config(), more);
  CHECK(message_of<SettingError>([&] { Teaching(teachers, other, 4, 1); }) ==
        "training.teachers: an agent that answers one of 3; allowed: one of 5 classes");
  const auto words = words_task();
  AgentConfig speaks = tiny_config();
  speaks.glimpse.kind = "whole";
  const Model speaker(speaks, words.spec);
  CHECK(contains(message_of<SettingError>([&] { Teaching(teachers, speaker, 4, 1); }),
                 "training.teachers: of an agent that does not answer one class"));
}

}  // namespace
}  // namespace saccade
