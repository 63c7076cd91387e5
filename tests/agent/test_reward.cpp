// Rewards by hand, and those that a program gives.
#include "agent/credit/reward.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "agent/credit/advantage.h"
#include "agent/learning/learner.h"
#include "base/error.h"
#include "base/name_table.h"
#include "tests/agent/target_task.h"
#include "tests/check_contains.h"
#include "tests/support.h"

namespace saccade {
namespace {

TEST_CASE("rewards by hand") {
  const auto of = [](const char* reward, bool right, float probability) {
    return find_reward(reward).of_answer(right, probability, 0.25F, {});
  };
  CHECK(of("correct", true, 0.3F) == 1.0F);
  CHECK(of("correct", false, 0.3F) == 0.0F);
  CHECK(of("probability", true, 0.3F) == 0.3F);
  CHECK(of("probability", false, 0.3F) == 0.3F);
  CHECK(of("log", false, 0.5F) == doctest::Approx(-0.693147));
  CHECK(of("log", true, 1.0F) == 0.0F);
  CHECK(of("log", false, 0.0F) == doctest::Approx(-87.3365));  // finite
  CHECK(of("clipped", false, 0.75F) == 0.5F);
  CHECK(of("clipped", true, 0.2F) == 0.0F);
  const Tensor<2> worth = {{0.5F, 0.125F}, {0.75F, 0.5F}, {0.625F, 1.0F}};  // (T, B)
  const auto step_rewards = [&](const char* reward) {
    Tensor<2> result = zeros<2>(3, 2);
    write_step_rewards(matrix(result), find_reward(reward), 4,
                       [&](int t, int b) { return worth(t, b); });
    return result;
  };
  CHECK(step_rewards("probability") == Tensor<2>{{0.0F, 0.0F}, {0.0F, 0.0F}, {0.625F, 1.0F}});
  CHECK(step_rewards("clipped") == step_rewards("probability"));  // of a worth that is given
  CHECK(step_rewards("gain") == Tensor<2>{{0.25F, -0.125F}, {0.25F, 0.375F}, {-0.125F, 0.5F}});
  // With trace 1 the gains telescope: the return is the final worth minus that before the look.
  Tensor<2> returns = zeros<2>(3, 2);
  discounted_returns(matrix(returns), matrix(step_rewards("gain")), 1.0F);
  CHECK(returns == Tensor<2>{{0.375F, 0.75F}, {0.125F, 0.875F}, {-0.125F, 0.5F}});
  CHECK(message_of<InputError>([] { find_reward("score"); }) ==
        fmt::format("unknown reinforce.reward 'score'; allowed: {}", join(reward_kinds())));
}

// The gradient of one lane of an agent with one look, whose reward is that of the configuration or
// a program's.
Tensor<1> gradient_with(const std::string& reward, const RewardFunction* own_reward) {
  constexpr int kBatch = 12;
  AgentConfig config = one_action_config();
  config.reinforce.reward = reward;
  config.reinforce.trace = 0.5;
  const Model model(config, {.glimpse_size = 1, .num_classes = 2});
  Lane lane(model, std::make_unique<TargetEnvironment>(kBatch), own_reward);
  Tensor<1> gradient = zeros<1>(model.layout().size());
  const Tensor<1> parameters = one_action_parameters(model.layout());
  const std::vector<double> average_returns = {0.0};
  lane.run(flat(gradient), flat(parameters), {.seed = 3, .update = 2}, average_returns, kBatch);
  return gradient;
}

TEST_CASE("a program's reward is asked once a lane, and what it says is what the looks earn") {
  int calls = 0;
  const RewardFunction gain = [&](const RewardRequest& request, Matrix rewards) {
    ++calls;
    REQUIRE(rewards.rows == static_cast<int>(request.probabilities.shape()[0]));
    REQUIRE(request.locations.shape()[1] == request.facts.size());
    for (int t = 0; t < rewards.rows; ++t)
      for (int b = 0; b < rewards.cols; ++b) {
        const int label = request.facts[b].label;
        const float before = t > 0 ? request.probabilities(t - 1, b, label) : 0.5F;
        rewards(t, b) = request.probabilities(t, b, label) - before;
      }
  };
  CHECK(gradient_with("own", &gain) == gradient_with("gain", nullptr));
  CHECK(calls == 1);
}

TEST_CASE("the reward of surprise is by how much a look changed the belief, whatever the truth") {
  const RewardFunction divergence = [](const RewardRequest& request, Matrix rewards) {
    for (int t = 0; t < rewards.rows; ++t)
      for (int b = 0; b < rewards.cols; ++b) {
        const float p = request.probabilities(t, b, 0), q = request.probabilities(t, b, 1);
        REQUIRE(t == 0);
        rewards(t, b) = p * std::log(2.0F * p) + q * std::log(2.0F * q);
      }
  };
  const Tensor<1> expected = gradient_with("own", &divergence);
  const Tensor<1> gradient = gradient_with("surprise", nullptr);
  CHECK(xt::amax(xt::abs(gradient - expected))() < 1e-6);
  CHECK(xt::amax(xt::abs(gradient - gradient_with("gain", nullptr)))() > 1e-3);

  const RewardKind& surprise = find_reward("surprise");
  Tensor<3> beliefs = zeros<3>(3, 1, 2);
  beliefs(0, 0, 0) = beliefs(0, 0, 1) = 0.5F;
  beliefs(1, 0, 0) = 1.0F;  // sure
  beliefs(2, 0, 1) = 1.0F;  // sure of the other: finite
  Tensor<2> earned = zeros<2>(3, 1);
  surprise.of_beliefs({.probabilities = beliefs, .facts = {}, .locations = {}}, matrix(earned));
  CHECK(earned(0, 0) == 0.0F);
  CHECK(earned(1, 0) == doctest::Approx(std::log(2.0)));
  CHECK(earned(2, 0) == doctest::Approx(-std::log(std::numeric_limits<float>::min())));
}

TEST_CASE("a program's reward must be there where it is asked for, and finite") {
  check_contains(message_of<InputError>([] { gradient_with("own", nullptr); }),
                 {"reinforce.reward: own: a program gives it, and none does here"});
  const RewardFunction broken = [](const RewardRequest&, Matrix rewards) {
    rewards(0, 7) = std::numeric_limits<float>::quiet_NaN();
  };
  check_contains(message_of<OwnPartError>([&] { gradient_with("own", &broken); }),
                 {"the reward of look 0 in episode 7 of a lane is nan; allowed: finite numbers"});
  check_contains(message_of<InputError>([&] { gradient_with("correct", &broken); }),
                 {"a reward is given, and reinforce.reward is correct"});
}

}  // namespace
}  // namespace saccade
