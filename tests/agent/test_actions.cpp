// Agents that act: returns over time, REINFORCE of actions and looks, and rewards.
#include <doctest/doctest.h>

#include "tests/agent/slopes.h"
#include "tests/agent/tasks.h"

namespace saccade {
namespace {

constexpr int kSteps = 10, kBalls = 2, kActions = 3;

AgentConfig catcher_config() {
  AgentConfig config = busy_config("lstm");
  config.glimpse.num_glimpses = kSteps;
  config.reinforce.reward = "correct";
  config.reinforce.discount = 0.8;
  config.reinforce.action_entropy = 0.04;
  return config;
}

// Replays the same actions and returns their rewards: (T, B).
Tensor<2> earned_by(const Rollout& rollout, int rollouts) {
  const int episodes = rollout.episodes();
  const auto environment = catch_task().environments(episodes, rollouts);
  environment->reset(kFirstScene);
  Tensor<2> step_rewards = zeros<2>(kSteps, episodes);
  for (int t = 0; t < kSteps; ++t) {
    std::vector<int> actions;
    for (int b = 0; b < episodes; ++b) actions.push_back(rollout.answer->predictions(b)[t]);
    environment->act(actions, {&step_rewards(t, 0), actions.size()});
  }
  return step_rewards;
}

void check_catcher(const AgentConfig& config) {
  const Task task = catch_task();
  check_slopes(config, task.spec, task.environments);
}

TEST_CASE("acting agents: the gradient is the slope of the losses") {
  for (const std::string& advantage : advantage_estimators()) {
    CAPTURE(advantage);
    AgentConfig config = catcher_config();
    set_credit(config, advantage, "correct");
    check_catcher(config);
  }
  for (const std::string& core : core_kinds()) {
    CAPTURE(core);
    AgentConfig config = catcher_config();
    config.model.core = core;
    config.glimpse.first = "learned";
    config.glimpse.learn_std = true;
    config.input = {.kind = "gate", .gain = 6.0};
    check_catcher(config);
  }
  for (const char* kind : {"hard_categorical", "soft_grid", "soft_gaussian", "soft_point"}) {
    CAPTURE(kind);
    AgentConfig config = catcher_config();
    config.glimpse.kind = kind;
    config.glimpse.grid = {.cells = {2, 2}, .stride = 2};
    check_catcher(config);
  }
  for (const double discount : {0.0, 0.5, 1.0}) {
    CAPTURE(discount);
    AgentConfig config = catcher_config();
    config.reinforce.discount = discount;
    config.reinforce.action_entropy = 0.0;
    config.reinforce.weight = 0.3;  // for the looks only
    check_catcher(config);
  }
}

// An agent with random weights that plays the first games.
struct Player {
  explicit Player(const AgentConfig& config)
      : model(config, catch_task().spec),
        parameters(zeros<1>(model.layout().size())),
        rollout(model, catch_task().environments(kEpisodes, 1)) {
    randomize(flat(parameters), model.layout(), 0.5F, 5);
  }
  const Answer& play(SamplingMode sampling, std::uint32_t update = 0) {
    rollout.run(flat(parameters),
                {.first_scene = kFirstScene, .update = update, .sampling = sampling});
    return *rollout.answer;
  }

  Model model;
  Tensor<1> parameters;
  Rollout rollout;
};

TEST_CASE("acting agents: returns over time, by hand") {
  AgentConfig config = catcher_config();
  for (const double discount : {1.0, 0.5}) {
    CAPTURE(discount);
    config.reinforce.discount = discount;
    Player player(config);
    player.play(SamplingMode::training);
    const Tensor<2> step_rewards = earned_by(player.rollout, 1);
    Tensor<2> returns = zeros<2>(kSteps, kEpisodes);
    player.rollout.answer->step_rewards(matrix(returns));
    CHECK(returns == step_rewards);
    discounted_returns(matrix(returns), matrix(step_rewards),
                       trace_of(config.reinforce, true).of_returns);
    std::set<std::pair<float, float>> outcomes;
    for (int b = 0; b < kEpisodes; ++b) {
      // Balls land at steps 4 and 9.
      const float first = step_rewards(4, b), second = step_rewards(9, b);
      outcomes.insert({first, second});
      const auto power = [&](int n) { return static_cast<float>(std::pow(discount, n)); };
      for (int t = 0; t < kSteps; ++t) {
        if (t != 4 && t != 9) CHECK(step_rewards(t, b) == 0.0F);
        const float expected = (t <= 4 ? first * power(4 - t) : 0.0F) + second * power(9 - t);
        CHECK(returns(t, b) == doctest::Approx(expected).epsilon(1e-6));
      }
    }
    CHECK(outcomes.size() >= 3);
  }
}

TEST_CASE("acting agents: the error is the share of missed balls, and rewards are counted") {
  Player player(catcher_config());
  std::set<float> errors;
  for (std::uint32_t update = 0; update < 4; ++update) {
    const Answer& answer = player.play(SamplingMode::training, update);
    const Tensor<2> step_rewards = earned_by(player.rollout, 1);
    for (int b = 0; b < kEpisodes; ++b) {
      float sum = 0.0F;
      for (int t = 0; t < kSteps; ++t) sum += step_rewards(t, b);
      CHECK(answer.rewards[b] == sum);
      CHECK(answer.error(b) == 1.0F - sum / kBalls);
      CHECK(answer.labels(b).empty());
      errors.insert(answer.error(b));
    }
  }
  CHECK(errors == std::set<float>{0.0F, 0.5F, 1.0F});
}

TEST_CASE(
    "acting agents: the deterministic pass takes the most probable action, training samples") {
  Player player(catcher_config());
  for (const SamplingMode sampling : {SamplingMode::training, SamplingMode::deterministic,
                                      SamplingMode::argmax, SamplingMode::sample}) {
    CAPTURE(static_cast<int>(sampling));
    const Answer& answer = player.play(sampling);
    int unlikely = 0;
    for (int b = 0; b < kEpisodes; ++b)
      for (int t = 0; t < kSteps; ++t) {
        const float* p = &answer.probabilities(t, b, 0);
        CHECK(p[0] + p[1] + p[2] == doctest::Approx(1.0));
        const auto most = std::max_element(p, p + kActions) - p;
        unlikely += answer.predictions(b)[t] != most ? 1 : 0;
      }
    const bool draws = sampling == SamplingMode::training || sampling == SamplingMode::sample;
    CHECK((unlikely > 0) == draws);
  }
}

TEST_CASE("acting agents: actions are sampled with their probabilities") {
  Player player(catcher_config());
  double expected[kActions] = {}, counts[kActions] = {};
  constexpr int kPasses = 200;
  for (std::uint32_t update = 0; update < kPasses; ++update) {
    const Answer& answer = player.play(SamplingMode::training, update);
    for (int b = 0; b < kEpisodes; ++b)
      for (int t = 0; t < kSteps; ++t) {
        ++counts[answer.predictions(b)[t]];
        for (int a = 0; a < kActions; ++a) expected[a] += answer.probabilities(t, b, a);
      }
  }
  // The standard deviation of a count is below sqrt(n) / 2 = 77.
  for (int a = 0; a < kActions; ++a) CHECK(std::abs(counts[a] - expected[a]) < 5 * 77);
}

TEST_CASE("acting agents: each loss sends gradient where the comment above Lane says") {
  struct Term {
    const char* name;
    std::string advantage;
    double weight, entropy, baseline;
    std::set<std::string> reached;
  };
  const std::set<std::string> acting = {"glimpse", "core", "classifier"};
  std::set<std::string> both = acting;
  both.insert("locator");
  std::set<std::string> all = both;
  all.insert("baseline");
  const Term terms[] = {{"REINFORCE of actions", "none", 0, 0, 0, acting},
                        {"and of looks", "none", 1, 0, 0, both},
                        {"and its baseline", "learned", 1, 0, 1, all}};
  const Task task = catch_task();
  for (const Term& term : terms) {
    CAPTURE(term.name);
    AgentConfig config = catcher_config();
    config.reinforce.advantage = term.advantage;
    config.reinforce.weight = term.weight;
    config.reinforce.action_entropy = term.entropy;
    config.reinforce.entropy = 0.0;
    config.reinforce.baseline_weight = term.baseline;
    CHECK(reached_parts(Played(config, task.spec, task.environments)) == term.reached);
  }
}

}  // namespace
}  // namespace saccade
